// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bsp/outbox.hpp"
#include "bsp/records.hpp"

namespace hockney::bsp::inline v1 {

// A piece of a stream received from a process.
struct Block {
  int pid;
  const std::byte* data;
  std::size_t bytes;
};

// The data that have arrived at the end of a superstep, by kind, in ascending order of the senders, including
// this process, and for each sender in the order of its calls. Valid until the next exchange.
struct Incoming {
  std::vector<Block> blocks[kinds];
  // Senders, in ascending order, with puts whose data are sent separately.
  std::vector<int> separate;
  std::uint64_t packets = 0;

  void add(Kind kind, int pid, const std::byte* data, std::size_t bytes) {
    if (bytes > 0) blocks[kind].push_back({pid, data, bytes});
  }
  // Adds a packet, in which the streams follow one another as messages, requests, puts.
  void add(int pid, const std::byte* data, const std::uint64_t (&bytes)[kinds]) {
    for (const Kind kind : {messages, requests, puts}) {
      add(kind, pid, data, bytes[kind]);
      data += bytes[kind];
    }
  }
  // Adds the data that a process has sent to itself.
  void add_from_self(int pid, const Outbox& outbox) {
    for (const Kind kind : {messages, requests, puts})
      add(kind, pid, outbox.streams[kind].begin, outbox.streams[kind].heap_bytes());
  }
  void clear() {
    for (std::vector<Block>& each : blocks) each.clear();
    separate.clear();
    packets = 0;
  }
};

// Two processes with different values of what all must agree on.
struct Disagreement {
  int pid = -1, other = -1;
  Agreement first = {}, second = {};
  explicit operator bool() const { return pid >= 0; }
};

// Moves records to other processes. Outboxes are indexed by process; this process's outbox for itself is in
// heap memory and not handled by a transport. All functions except grow() are called in bsp_sync.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  virtual const char* name() const = 0;

  // Makes space in a stream: at least `bytes` contiguous bytes.
  virtual void grow(int pid, Kind kind, Stream& stream, std::size_t bytes) = 0;

  // Whether a large put of this size is appended to its stream like others. Otherwise its data are sent
  // separately.
  virtual bool appends(std::size_t bytes) const = 0;

  // Delivers the outboxes of all processes to one another. Collective. `active` lists the outboxes with
  // records. When the function returns on a process, all other processes have called it.
  virtual Disagreement exchange(const Agreement& agreement, std::vector<Outbox>& outboxes,
                                std::span<const int> active, Incoming& incoming) = 0;

  // After the exchange: provide memory for data that `pid` has requested, send them, and receive the data
  // that this process has requested from `pid`, in the order of the requests. A pair of processes uses these
  // functions at most once in a superstep, with the same size.
  virtual std::byte* reply_room(int pid, std::size_t bytes) = 0;
  virtual void send_reply(int pid) = 0;
  virtual void expect_reply(int pid, std::size_t bytes) = 0;
  virtual const std::byte* reply(int pid) = 0;

  // Called after delivery: outboxes may be cleared and reused.
  virtual void finish() = 0;
};

}  // namespace hockney::bsp::inline v1
