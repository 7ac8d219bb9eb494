// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bsp/outbox.hpp"
#include "bsp/transport.hpp"
#include "comm/comm.hpp"
#include "comm/wait_policy.hpp"

namespace hockney::bsp::inline v1 {

// Delivers the data of gets, and data separate from their records, as separate MPI messages; and ends a
// superstep, in which everything reaches the program's memory.
class Delivery {
 public:
  Delivery(const Comm& comm, WaitPolicy wait_policy) : comm_(comm), wait_policy_(wait_policy) {}

  // ---- During a superstep ----
  // Sends data to `pid` separately, from the program's memory or a copy of it.
  void send_separately(int pid, const void* from, std::size_t bytes);
  void send_copy(int pid, const void* from, std::size_t bytes);
  // Registers data requested from `pid`, in the order of the calls, to be received into the program's memory.
  void expect(int pid, void* to, std::size_t bytes);
  void expect_separately(int pid, void* to, std::size_t bytes);

  // ---- At the end of a superstep ----
  void run(Transport& transport, const Incoming& incoming);
  // Whether the program has requested data that run() must deliver.
  bool requested_bytes() const {
    return !gets_.empty() || !incoming_separate_.empty() || !outgoing_separate_.empty();
  }

  // Bytes that run() will move from and to other processes, in addition to the contents of outboxes. Must be
  // called before run().
  struct Traffic {
    std::uint64_t bytes_in = 0, bytes_out = 0;
    std::uint64_t packets_in = 0, packets_out = 0;
    std::uint64_t arrived_records = 0;  // puts, messages and requests of others, and replies to own requests
    std::uint64_t answered_requests = 0;  // requests of others
  };
  Traffic traffic(const Incoming& incoming) const;

 private:
  struct Get {
    int pid;
    std::byte* to;
    std::size_t bytes;
  };
  struct SeparateData {
    int pid;
    std::byte* data;
    std::size_t bytes;
  };
  // A put whose data could interfere with other operations, and are first received into other memory.
  struct StagedPut {
    std::byte* data;
    std::size_t request;
  };

  void answer(Transport& transport, const Incoming& incoming);
  void receive_separate(const Incoming& incoming);
  bool interferes(const Incoming& incoming, std::uint64_t to, std::uint64_t bytes) const;
  void write_gets(Transport& transport);
  void write_puts(const Incoming& incoming);
  void start_send(const void* from, std::size_t bytes, int pid, int tag);
  void start_receive(void* to, std::size_t bytes, int pid, int tag);
  std::byte* buffer(std::size_t bytes);
  void clear();

  const Comm& comm_;
  WaitPolicy wait_policy_;
  std::vector<Get> gets_;
  std::vector<SeparateData> incoming_separate_;  // gets
  std::vector<SeparateData> outgoing_separate_;  // puts
  std::vector<std::size_t> requested_bytes_;     // bytes requested from each process, without separate data
  std::vector<const std::byte*> replies_;
  std::vector<MPI_Request> requests_;
  std::vector<StagedPut> staged_puts_;
  std::vector<Bytes> buffers_;  // for copies; the first `used_` belong to this superstep
  std::size_t used_ = 0;
  Bytes self_reply_;
};

}  // namespace hockney::bsp::inline v1
