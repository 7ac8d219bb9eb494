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

// The data of gets, and data that travel apart from their records, as separate MPI messages; and the end of a
// superstep, in which everything reaches the program's memory.
class Delivery {
 public:
  Delivery(const Comm& comm, WaitPolicy wait_policy) : comm_(comm), wait_policy_(wait_policy) {}

  // ---- In a superstep ----
  // Data for `pid` that travel apart, the program's memory or a copy of it.
  void send_apart(int pid, const void* from, std::size_t bytes);
  void send_copy(int pid, const void* from, std::size_t bytes);
  // What this process has asked of `pid`, in the order of its calls: into memory of the program.
  void expect(int pid, void* to, std::size_t bytes);
  void expect_apart(int pid, void* to, std::size_t bytes);

  // ---- At its end ----
  void run(Transport& transport, const Incoming& incoming);
  // Whether the program has asked for something that run() would deliver.
  bool asked() const { return !gets_.empty() || !apart_in_.empty() || !apart_out_.empty(); }

  // What run() will move from and to other processes, besides what outboxes contain. To be called before it.
  struct Traffic {
    std::uint64_t bytes_in = 0, bytes_out = 0;
    std::uint64_t packets_in = 0, packets_out = 0;
    std::uint64_t arrived = 0;   // puts, messages and requests of others, and replies to own requests
    std::uint64_t answered = 0;  // requests of others
  };
  Traffic traffic(const Incoming& incoming) const;

 private:
  struct Get {
    int pid;
    std::byte* to;
    std::size_t bytes;
  };
  struct Apart {
    int pid;
    std::byte* data;
    std::size_t bytes;
  };
  // A put whose data could interfere with other operations, received elsewhere first.
  struct Detour {
    std::byte* data;
    std::size_t request;
  };

  void answer(Transport& transport, const Incoming& incoming);
  void receive_apart(const Incoming& incoming);
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
  std::vector<Apart> apart_in_;     // gets
  std::vector<Apart> apart_out_;    // puts
  std::vector<std::size_t> asked_;  // bytes asked of each process, not apart
  std::vector<const std::byte*> replies_;
  std::vector<MPI_Request> requests_;
  std::vector<Detour> detours_;
  std::vector<Bytes> buffers_;  // for copies; the first `used_` belong to this superstep
  std::size_t used_ = 0;
  Bytes own_reply_;
};

}  // namespace hockney::bsp::inline v1
