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

// A word that one rank writes and others poll, in a cache line of its own (two, since processors prefetch
// them in pairs).
struct alignas(128) Flag {
  std::atomic<std::uint32_t> value;
  std::atomic<std::uint32_t> asleep;  // ranks asleep on it
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "flags are shared between processes");

// Throws InvalidCase on a simulated machine: ranks are on separate nodes there, and polling memory would
// never end, because simulated time does not advance meanwhile.
void need_memory_to_watch();

// The MPI_Win that `make` returns, on all ranks of a private communicator. Collective. Throws InvalidCase on
// all ranks if MPI fails to create it on any of them, where the default error handler would abort.
template <class Make>
MPI_Win make_window(MPI_Comm own, const WaitPolicy& wait_policy, Make make) {
  MPI_Errhandler users;
  MPI_Comm_get_errhandler(own, &users);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  MPI_Win window = MPI_WIN_NULL;
  const bool fine = make(&window) == MPI_SUCCESS;
  MPI_Comm_set_errhandler(own, users);
  MPI_Errhandler_free(&users);
  // A rank that has a window keeps it even if others do not: freeing is collective.
  if (!wait_policy.on_all(fine, own))
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

  // Publish a value, and wait for one.
  void set(Flag& flag, std::uint32_t value) const {
    if (!wait_policy_.crowded()) {
      flag.value.store(value, std::memory_order_release);
      return;
    }
    // Sequentially consistent with the sleeper's steps: either it sees the value, or it is seen sleeping.
    flag.value.store(value, std::memory_order_seq_cst);
    if (flag.asleep.load(std::memory_order_seq_cst) != 0) wake_all(flag);
  }
  void until(Flag& flag, std::uint32_t value) const {
    wait_for(flag, [value](std::uint32_t now) { return now == value; });
  }
  // For flags that count up and that their writer may already have increased further.
  void until_at_least(Flag& flag, std::uint32_t value) const {
    wait_for(flag, [value](std::uint32_t now) { return static_cast<std::int32_t>(now - value) >= 0; });
  }

 private:
  // An oversubscribed rank polls for a while, yielding its core in between, and then sleeps: with per-process
  // scheduling groups a rank that yields may get its core back at once.
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
  // A user message may need progress in this rank's MPI before the awaited rank can arrive.
  void let_mpi_work() const {
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
