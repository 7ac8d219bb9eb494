// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bsp/delivery.hpp"
#include "bsp/errors.hpp"
#include "bsp/outbox.hpp"
#include "bsp/queue.hpp"
#include "bsp/records.hpp"
#include "bsp/registry.hpp"
#include "bsp/transport.hpp"
#include "bsp/watch.hpp"
#include "comm/comm.hpp"
#include "comm/wait_policy.hpp"
#include "hockney/bsp.hpp"

namespace hockney::bsp::inline v1 {

// BSPlib on one process: the common part of hockney/bsp.hpp, which documents construction, record() and
// settings, and bsp.h, which documents the semantics.
// Between two calls of sync(), puts, requests of gets, and messages are appended to an outbox for each
// process. sync() has its transport exchange the outboxes, answers requests, and writes first the data
// received by gets, then the puts.
class Core {
 public:
  // `prefix` precedes the names of functions in errors. Throws InvalidCase on all processes for settings that
  // cannot be met on this machine.
  Core(MPI_Comm comm, const Settings& settings, const char* prefix);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  int pid() const { return comm_.rank; }
  int nprocs() const { return comm_.size; }
  double time() const;
  std::uint64_t superstep() const { return place_.superstep; }
  const Settings& settings() const { return settings_; }
  const Comm& comm() const { return comm_; }

  void sync();
  // Ends the program. Collective, called once; afterwards only the destructor may be called.
  void end();

  // The newest registration of this address, for put and similar calls; not in force if there is none.
  std::uint32_t find(const void* base) { return registry_.find(base); }
  std::uint32_t push(const void* memory, std::size_t bytes);
  void pop(const void* memory);
  void pop(std::uint32_t number);

  // `call` is put or hpput, get or hpget. `area` is the address by which the program names the registration,
  // if it does.
  void put(Call call, int pid, const void* from, std::uint32_t number, const void* area, std::size_t offset,
           std::size_t bytes) {
    if (bytes == 0) return;
    const std::uint64_t to = checked(call, pid, number, area, offset, bytes, from);
    if (is_counting_) count(pid, bytes);
    if (bytes < special_bytes_) [[likely]]
      append(pid, from, to, bytes);
    else
      put_special(call, pid, from, to, bytes);
  }
  void get(Call call, int pid, std::uint32_t number, const void* area, std::size_t offset, void* to,
           std::size_t bytes);

  std::size_t set_tag_size(std::size_t bytes);
  // Size of the tags that are sent, and of the tags in the queue.
  std::size_t tag_size() const { return tag_bytes_; }
  std::size_t queued_tag_size() const { return queued_tag_bytes_; }
  void send(Call call, int pid, const void* tag, const void* payload, std::size_t payload_bytes);
  Queue& queue() { return queue_; }

  void record(bool on);
  std::span<const Superstep> supersteps() const { return supersteps_; }

  // Sets the call site for error messages; valid until the next call.
  void set_call_site(const char* file, int line) {
    place_.file = file;
    place_.line = line;
  }
  [[noreturn, gnu::format(printf, 3, 4)]] void fail(Call call, const char* format, ...) const;
  const Place& place() const { return place_; }

 private:
  // The address of the bytes on process `pid`. Fails unless they are within its area, and `own` is not null.
  std::uint64_t checked(Call call, int pid, std::uint32_t number, const void* area, std::size_t offset,
                        std::size_t bytes, const void* own) const {
    if (static_cast<unsigned>(pid) < static_cast<unsigned>(comm_.size) && registry_.is_in_force(number))
        [[likely]] {
      const Memory& memory = registry_.of(number, pid);
      if (offset <= memory.bytes && bytes <= memory.bytes - offset && own != nullptr) [[likely]]
        return memory.base + offset;
    }
    refuse(call, pid, number, area, offset, bytes, own);
  }
  [[noreturn, gnu::cold]] void refuse(Call call, int pid, std::uint32_t number, const void* area,
                                      std::size_t offset, std::size_t bytes, const void* own) const;
  void check_pid(Call call, int pid) const;
  void check_size(Call call, const char* what, std::size_t bytes) const;
  std::string name(Call call) const;
  // Appends a put to its stream, or extends the previous put if that ends where this one begins.
  void append(int pid, const void* from, std::uint64_t to, std::size_t bytes) {
    Outbox& out = outboxes_[static_cast<std::size_t>(pid)];
    Stream& stream = out.streams[puts];
    if (to == out.run_end && stream.room() >= bytes && !separate_) {
      copy_bytes(stream.at, from, bytes);
      stream.at += bytes;
      std::byte* const total = out.run + offsetof(PutRecord, bytes);
      const std::uint64_t combined_bytes = read<std::uint64_t>(total) + bytes;
      std::memcpy(total, &combined_bytes, sizeof combined_bytes);
      out.run_end = to + bytes;
      return;
    }
    const PutRecord record{to, bytes};
    if (stream.room() < sizeof record + bytes) [[unlikely]]
      grow(out, pid, puts, sizeof record + bytes);
    out.run = stream.at;
    out.run_end = to + bytes;
    std::memcpy(stream.at, &record, sizeof record);
    copy_bytes(stream.at + sizeof record, from, bytes);
    stream.at += sizeof record + bytes;
  }
  void put_special(Call call, int pid, const void* from, std::uint64_t to, std::size_t bytes);
  template <class Record>
  void append_record(int pid, Kind kind, const Record& record);
  void grow(Outbox& out, int pid, Kind kind, std::size_t bytes);
  void count(int pid, std::size_t bytes);
  void choose_transport();
  double measure_seconds(Transport& transport);
  [[noreturn]] void report(const Disagreement& found) const;
  void update_registrations();
  std::vector<std::uint32_t> removed(const std::vector<Memory>& pushed) const;
  void gather(const void* own, std::size_t bytes, void* all) const;
  void note_traffic();
  void charge_writing();
  void charge_exchanging();
  void spend_reading();
  void clear_outboxes();

  WaitPolicy wait_policy_;
  Comm comm_;
  Settings settings_;
  Place place_;
  Registry registry_;
  std::vector<Outbox> outboxes_;
  std::vector<int> active_;
  std::size_t direct_bytes_ = 0;
  std::size_t special_bytes_ = 0;  // puts of at least this size are not simply appended
  bool is_recording_ = false;      // times of supersteps are recorded
  bool is_counting_ = false;       // communication of supersteps is counted
  bool separate_ = false;          // each put has a separate record, so that puts can be counted
  bool ended_ = false;
  std::size_t queued_tag_bytes_ = 0, tag_bytes_ = 0;
  Agreement agreement_;  // tag_bytes: the last size set
  double began_ = 0;
  double resumed_ = 0;
  std::unique_ptr<Transport> transport_;
  Delivery delivery_;
  Queue queue_;
  Incoming incoming_;
  Bytes self_messages_;           // from this process to itself; already in the queue
  std::unique_ptr<Watch> watch_;  // in a checking run
  Superstep current_;
  std::uint64_t arrived_records_ = 0, answered_requests_ = 0;  // in the last superstep, if counted
  std::vector<Superstep> supersteps_;
};

}  // namespace hockney::bsp::inline v1
