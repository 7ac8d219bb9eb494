// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <memory>
#include <string_view>
#include <vector>

// Barriers to choose from, for programs of your own. No message of theirs meets one of yours: each barrier
// has a duplicate of your communicator.
//
//   auto barrier = hockney::best_barrier(MPI_COMM_WORLD);  // times its candidates once, at most 50 ms
//   for (...) { work(); barrier->wait(); }
namespace hockney {

// No rank leaves wait() before all ranks of the communicator have entered it. Made and destroyed
// collectively; to be destroyed before MPI_Finalize. wait() is for one thread of each rank.
class Barrier {
 public:
  Barrier() = default;
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;
  virtual ~Barrier() = default;

  virtual void wait() = 0;
};

// What one episode costs: messages of all ranks together, how many of them follow one another on the longest
// path, and how many the busiest rank sends and receives. All 0 where an algorithm sends none of its own
// (shared memory, MPI's own barriers).
struct Traffic {
  long messages = 0;
  int depth = 0;
  int busiest = 0;
};

}  // namespace hockney
