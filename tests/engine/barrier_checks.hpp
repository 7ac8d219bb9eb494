// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "base/random.hpp"
#include "comm/shared.hpp"
#include "hockney/barrier.hpp"
#include "sync/algorithm.hpp"

// Whether a barrier is one, seen through memory that all ranks share: who has entered is counted there, so
// that no clock and no message of the test's own is needed.
namespace checks {

using namespace hockney;

inline int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
inline int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

// Counts for one barrier's ranks how often each has entered it.
class Entries {
 public:
  // Collective.
  explicit Entries(MPI_Comm comm) : flags_(comm, 3) {}

  // One episode; counts those ranks that had not entered when this one left, or whose plain word, written
  // last before and read first after, had not come: nothing but the barrier puts it in order.
  void episode(Barrier& barrier) {
    ++mine_;
    flags_.set(flags_.of(flags_.rank()), mine_);
    plain(flags_.rank()) = mine_;
    barrier.wait();
    for (int rank = 0; rank < flags_.size(); ++rank)
      if (static_cast<std::int32_t>(plain(rank) - mine_) < 0) ++missing_;
    for (int rank = 0; rank < flags_.size(); ++rank)
      if (static_cast<std::int32_t>(flags_.of(rank).value.load(std::memory_order_acquire) - mine_) < 0)
        ++missing_;
  }
  long missing() const { return missing_; }

  // Rank 0's word to all, once a `turn`; the second flag of rank 0 is for it. Turns count from 1.
  bool told(bool go_on, std::uint32_t turn) {
    Flag& word = flags_.of(0, 1);
    if (flags_.rank() == 0) flags_.set(word, 2 * turn + (go_on ? 1 : 0));
    flags_.until_at_least(word, 2 * turn);
    return word.value.load() % 2 == 1;
  }

 private:
  // Volatile, so that it is written and read where it stands;
  // that orders it for the compiler only among its like.
  volatile std::uint32_t& plain(int rank) {
    return reinterpret_cast<volatile std::uint32_t&>(flags_.of(rank, 2).value);
  }

  SharedFlags flags_;
  std::uint32_t mine_ = 0;
  long missing_ = 0;
};

// A rank is late now and then: some by microseconds, and once in a while by more than a message ever takes.
inline void be_late(std::uint64_t seed, int rank) {
  const std::uint64_t drawn = mix(seed * 64 + static_cast<std::uint64_t>(rank));
  if (drawn % 256 == 0)
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  else if (drawn % 8 == 0)
    for (std::uint64_t turn = drawn >> 56; turn > 0; --turn)
      std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace checks
