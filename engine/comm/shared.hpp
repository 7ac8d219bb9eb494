// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <new>

#include "base/refusal.hpp"
#include "comm/patience.hpp"

namespace hockney {

// A word that one rank writes and others watch, in a cache line of its own (two, since processors fetch them
// in pairs).
struct alignas(128) Flag {
  std::atomic<std::uint32_t> value;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "flags are shared between processes");

// Throws Refusal on a simulated machine: its ranks have nodes of their own, and watching memory there would
// last for ever, since simulated time stands still meanwhile.
void need_memory_to_watch();

// `flags` flags for each rank of a communicator whose ranks share memory, all 0 at first.
class SharedFlags {
 public:
  // Collective. Throws Refusal, on all ranks, where they are not all on one node.
  SharedFlags(MPI_Comm comm, int flags);
  ~SharedFlags();
  SharedFlags(const SharedFlags&) = delete;
  SharedFlags& operator=(const SharedFlags&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  Flag& of(int rank, int flag = 0) const { return base_[static_cast<std::size_t>(rank) * flags_ + flag]; }

  // Publish, and wait for another's publishing.
  static void set(Flag& flag, std::uint32_t value) { flag.value.store(value, std::memory_order_release); }
  void until(const Flag& flag, std::uint32_t value) const {
    patience_.until([&] { return flag.value.load(std::memory_order_acquire) == value; });
  }
  // For flags that count up and that their writer may have taken a step further already.
  void until_at_least(const Flag& flag, std::uint32_t value) const {
    patience_.until(
        [&] { return static_cast<std::int32_t>(flag.value.load(std::memory_order_acquire) - value) >= 0; });
  }

 private:
  int rank_ = 0;
  int size_ = 1;
  std::size_t flags_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  Flag* base_ = nullptr;
  Patience patience_;
};

}  // namespace hockney
