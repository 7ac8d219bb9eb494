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

// Whether a barrier is correct, checked through memory that all ranks share: entries are counted there, so
// that the test needs neither a clock nor messages.
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

// Counts for one barrier how often each rank has entered it.
class Entries {
 public:
  // Collective.
  explicit Entries(MPI_Comm comm) : flags_(comm, 3) {}

  // One episode; counts the ranks that had not entered when this one left, or whose plain word, written last
  // before and read first after, was not visible: only the barrier orders these accesses.
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

  // Rank 0's message to all, once per `turn`; the second flag of rank 0 is used for it. Turns count from 1.
  bool told(bool go_on, std::uint32_t turn) {
    Flag& word = flags_.of(0, 1);
    if (flags_.rank() == 0) flags_.set(word, 2 * turn + (go_on ? 1 : 0));
    flags_.wait_until_at_least(word, 2 * turn);
    return word.value.load() % 2 == 1;
  }

 private:
  // Volatile, so that it is written and read exactly here; this only orders it for the compiler relative to
  // other volatile accesses.
  volatile std::uint32_t& plain(int rank) {
    return reinterpret_cast<volatile std::uint32_t&>(flags_.of(rank, 2).value);
  }

  SharedFlags flags_;
  std::uint32_t mine_ = 0;
  long missing_ = 0;
};

// A rank is sometimes late: usually by microseconds, and occasionally by more than a message ever takes.
inline void be_late(std::uint64_t seed, int rank) {
  const std::uint64_t drawn = mix(seed * 64 + static_cast<std::uint64_t>(rank));
  if (drawn % 256 == 0)
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  else if (drawn % 8 == 0)
    for (std::uint64_t turn = drawn >> 56; turn > 0; --turn)
      std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace checks
