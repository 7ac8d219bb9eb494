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

// Outboxes as MPI messages, one per pair of processes and superstep.
class Packets {
 public:
  Packets(const Comm& comm, WaitPolicy wait_policy);

  // Sends the heap part of an outbox, whose size the receiver knows. It must not change until wait_sent().
  void send(const Outbox& outbox, int pid);
  void receive(int pid, std::size_t bytes);
  void wait_received();
  // The data last received from this process; valid until the next receive().
  const std::byte* data(int pid) const { return in_[static_cast<std::size_t>(pid)].data(); }
  void wait_sent();

  // Data of gets.
  std::byte* reply_room(int pid, std::size_t bytes);
  void send_reply(int pid);
  void expect_reply(int pid, std::size_t bytes);
  const std::byte* reply(int pid);

 private:
  struct Reply {
    std::size_t size = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    Bytes bytes;
  };
  Reply& reply_of(std::vector<Reply>& replies, int pid, std::size_t bytes) const;

  const Comm& comm_;
  WaitPolicy wait_policy_;
  std::vector<Bytes> in_;         // by process
  std::vector<Bytes> assembled_;  // outboxes with records of several kinds
  std::size_t used_ = 0;
  std::vector<MPI_Request> sending_, receiving_;
  std::vector<Reply> out_replies_, in_replies_;  // by process, created on the first get
};

}  // namespace hockney::bsp::inline v1
