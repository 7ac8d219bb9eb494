// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <new>

#include "base/invalid_case.hpp"
#include "comm/wait_policy.hpp"

namespace hockney {

// A word that one rank writes and others watch, in a cache line of
// its own (two, since processors fetch them in pairs).
struct alignas(128) Flag {
  std::atomic<std::uint32_t> value;
  std::atomic<std::uint32_t> asleep;  // ranks that wait for it without a core
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "flags are shared between processes");

// Throws InvalidCase on a simulated machine: its ranks have nodes of their own, and watching memory there
// would never end, since simulated time stands still meanwhile.
void need_memory_to_watch();

// What `make` returns, an MPI_Win, on all ranks of a communicator of our own. Collective. Throws InvalidCase,
// on all ranks, where MPI has none for any of them: without this it would end the program.
template <class Make>
MPI_Win make_window(MPI_Comm own, const WaitPolicy& wait_policy, Make make) {
  MPI_Errhandler users;
  MPI_Comm_get_errhandler(own, &users);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  MPI_Win window = MPI_WIN_NULL;
  const bool fine = make(&window) == MPI_SUCCESS;
  MPI_Comm_set_errhandler(own, users);
  MPI_Errhandler_free(&users);
  // Who has one keeps it where others have none: freeing is collective.
  if (!wait_policy.on_all(fine, own))
    throw InvalidCase("MPI can make no window of memory here (/dev/shm may be full)");
  return window;
}

// `flags` flags for each rank of a communicator whose ranks share memory, all 0 at first.
class SharedFlags {
 public:
  // Collective. Throws InvalidCase, on all ranks, where they are not all on one node.
  SharedFlags(MPI_Comm comm, int flags);
  ~SharedFlags();
  SharedFlags(const SharedFlags&) = delete;
  SharedFlags& operator=(const SharedFlags&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  Flag& of(int rank, int flag = 0) const { return base_[static_cast<std::size_t>(rank) * flags_ + flag]; }

  // Publish, and wait for another's publishing.
  void set(Flag& flag, std::uint32_t value) const {
    if (!wait_policy_.crowded()) {
      flag.value.store(value, std::memory_order_release);
      return;
    }
    // In one order with the sleeper's steps: either it sees the value, or it is seen asleep.
    flag.value.store(value, std::memory_order_seq_cst);
    if (flag.asleep.load(std::memory_order_seq_cst) != 0) wake_all(flag);
  }
  void until(Flag& flag, std::uint32_t value) const {
    wait_for(flag, [value](std::uint32_t now) { return now == value; });
  }
  // For flags that count up and that their writer may have taken a step further already.
  void until_at_least(Flag& flag, std::uint32_t value) const {
    wait_for(flag, [value](std::uint32_t now) { return static_cast<std::int32_t>(now - value) >= 0; });
  }

 private:
  // A crowded rank watches for a while, giving its core away in between, and then sleeps: who yields may be
  // given its core again at once, where each rank has a scheduling group of its own.
  template <class There>
  void wait_for(Flag& flag, There there) const {
    const auto looks = [&] { return there(flag.value.load(std::memory_order_acquire)); };
    if (!wait_policy_.crowded()) {
      wait_policy_.until(looks, [this] { let_mpi_work(); });
      return;
    }
    if (wait_policy_.for_a_while(looks)) return;
    flag.asleep.fetch_add(1, std::memory_order_seq_cst);
    for (std::uint32_t now; !there(now = flag.value.load(std::memory_order_seq_cst));) {
      sleep_while(flag, now);
      if (flag.value.load(std::memory_order_relaxed) == now) let_mpi_work();
    }
    flag.asleep.fetch_sub(1, std::memory_order_relaxed);
  }
  // A message of the user's may need this rank's MPI before the one that is waited for can come.
  void let_mpi_work() const {
    int there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &there, MPI_STATUS_IGNORE);
  }
  // Until somebody calls wake_all, or the flag is not `value` any more, or for a millisecond; may also wake
  // up for nothing.
  static void sleep_while(Flag& flag, std::uint32_t value);
  static void wake_all(Flag& flag);

  int rank_ = 0;
  int size_ = 1;
  std::size_t flags_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  Flag* base_ = nullptr;
  WaitPolicy wait_policy_;
};

}  // namespace hockney
