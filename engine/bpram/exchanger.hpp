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

// Performs the steps of one process.
class Exchanger {
 public:
  Exchanger(MPI_Comm comm, const Settings& settings);
  Exchanger(const Exchanger&) = delete;
  Exchanger& operator=(const Exchanger&) = delete;

  const Comm& comm() const { return comm_; }
  double start_s() const { return start_s_; }
  std::uint64_t steps() const { return steps_; }

  // `to` may be nobody. If `receives` is false, `room` is empty and nothing is received.
  Received step(int to, std::span<const std::byte> block, bool receives, std::span<std::byte> room);

  [[noreturn, gnu::format(printf, 2, 3)]] void fail(const char* format, ...) const;

 private:
  // A call of a process, for checking.
  struct Call {
    std::uint64_t bytes;
    std::uint64_t room;
    int to;
    int receives;
  };

  void check(const Call& call) const;
  void require_permutation(const std::vector<Call>& calls) const;
  void start_sends(int to, std::span<const std::byte> block, int tag);
  Received receive(std::span<std::byte> room, int tag);

  Comm comm_;
  bool checks_;
  int max_tags_;
  double start_s_;
  std::uint64_t steps_ = 0;
  std::vector<MPI_Request> sending_;
};

}  // namespace hockney::bpram::inline v1
