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

// A word that one rank writes and others poll, on a separate cache line. It is aligned to two lines, since
// processors prefetch them in pairs.
struct alignas(128) Flag {
  std::atomic<std::uint32_t> value;
  std::atomic<std::uint32_t> sleepers;  // number of ranks that sleep on it
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "flags are shared between processes");

// Throws InvalidCase on a simulated machine: its ranks are on separate nodes, and polling memory would never
// end, because simulated time does not advance meanwhile.
void require_shared_memory();

// The MPI_Win that `make` returns on all ranks of a private communicator. Collective. If MPI fails to create
// the window on any rank, throws InvalidCase on all ranks, whereas the default error handler would abort.
template <class Make>
MPI_Win make_window(MPI_Comm comm, const WaitPolicy& wait_policy, Make make) {
  MPI_Errhandler users;
  MPI_Comm_get_errhandler(comm, &users);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Win window = MPI_WIN_NULL;
  const bool fine = make(&window) == MPI_SUCCESS;
  MPI_Comm_set_errhandler(comm, users);
  MPI_Errhandler_free(&users);
  // A rank that has a window keeps it even if other ranks do not: freeing is collective.
  if (!wait_policy.all_agree(fine, comm))
    throw InvalidCase("MPI cannot create a memory window here (/dev/shm may be full)");
  return window;
}

// `flags` flags per rank of a communicator whose ranks share memory, initially 0.
class SharedFlags {
 public:
  // Collective. Throws InvalidCase on all ranks unless they are all on one node.
  SharedFlags(MPI_Comm comm, int flags);
  ~SharedFlags();
  SharedFlags(const SharedFlags&) = delete;
  SharedFlags& operator=(const SharedFlags&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  Flag& of(int rank, int flag = 0) const { return base_[static_cast<std::size_t>(rank) * flags_ + flag]; }

  // Stores a value, and wakes up ranks that sleep on the flag.
  void set(Flag& flag, std::uint32_t value) const {
    if (!wait_policy_.oversubscribed()) {
      flag.value.store(value, std::memory_order_release);
      return;
    }
    // Sequentially consistent with the sleeper's steps: either it sees the value, or it is seen sleeping.
    flag.value.store(value, std::memory_order_seq_cst);
    if (flag.sleepers.load(std::memory_order_seq_cst) != 0) wake_all(flag);
  }
  void wait_until_equal(Flag& flag, std::uint32_t value) const {
    wait_for(flag, [value](std::uint32_t current) { return current == value; });
  }
  // For flags that count up and may already have been incremented further.
  void wait_until_at_least(Flag& flag, std::uint32_t value) const {
    wait_for(flag,
             [value](std::uint32_t current) { return static_cast<std::int32_t>(current - value) >= 0; });
  }

 private:
  // An oversubscribed rank polls for a while, yielding its core in between, and then sleeps: with per-process
  // scheduling groups, a rank that yields may get its core back immediately.
  template <class Predicate>
  void wait_for(Flag& flag, Predicate there) const {
    const auto is_satisfied = [&] { return there(flag.value.load(std::memory_order_acquire)); };
    if (!wait_policy_.oversubscribed()) {
      wait_policy_.until(is_satisfied, [this] { progress_mpi(); });
      return;
    }
    if (wait_policy_.poll_briefly(is_satisfied)) return;
    flag.sleepers.fetch_add(1, std::memory_order_seq_cst);
    for (std::uint32_t current; !there(current = flag.value.load(std::memory_order_seq_cst));) {
      sleep_while(flag, current);
      if (flag.value.load(std::memory_order_relaxed) == current) progress_mpi();
    }
    flag.sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
  // The awaited rank may be waiting for a user message that needs progress in this rank's MPI.
  void progress_mpi() const {
    int there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &there, MPI_STATUS_IGNORE);
  }
  // Sleeps until somebody calls wake_all, the flag is no longer `value`, or a millisecond has passed; may
  // also wake up spuriously.
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
