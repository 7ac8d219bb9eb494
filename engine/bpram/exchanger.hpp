// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/comm.hpp"
#include "hockney/bpram.hpp"

namespace hockney::bpram::inline v1 {

// The steps of one process.
class Exchanger {
 public:
  Exchanger(MPI_Comm comm, const Settings& settings);
  Exchanger(const Exchanger&) = delete;
  Exchanger& operator=(const Exchanger&) = delete;

  const Comm& comm() const { return comm_; }
  double began() const { return began_; }
  std::uint64_t steps() const { return steps_; }

  // `to` may be nobody. Without `receives` the room is empty, and nothing is received.
  Received step(int to, std::span<const std::byte> block, bool receives, std::span<std::byte> room);

  [[noreturn, gnu::format(printf, 2, 3)]] void fail(const char* format, ...) const;

 private:
  // What a process calls, for checking.
  struct Call {
    std::uint64_t bytes;
    std::uint64_t room;
    int to;
    int receives;
  };

  void check(const Call& call) const;
  void require_permutation(const std::vector<Call>& calls) const;
  void start_sending(int to, std::span<const std::byte> block, int tag);
  Received receive(std::span<std::byte> room, int tag);

  Comm comm_;
  bool checks_;
  int most_tags_;
  double began_;
  std::uint64_t steps_ = 0;
  std::vector<MPI_Request> sending_;
};

}  // namespace hockney::bpram::inline v1
