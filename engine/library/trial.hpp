// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "comm/wait_policy.hpp"
#include "hockney/barrier.hpp"
#include "sync/algorithm.hpp"

namespace hockney {

// Element-wise maximum over the ranks, on all ranks. Collective; waits according to `wait_policy`.
void agree(MPI_Comm comm, const WaitPolicy& wait_policy, std::vector<double>& values);

// A candidate that was created, and its seconds per episode, one value per round.
struct Trial {
  const BarrierAlgorithm* algorithm;
  std::unique_ptr<Barrier> barrier;
  std::vector<double> rounds;
};

// Creates and times `candidates`, the likeliest first, until about `limit` seconds after `begun`, a time of
// rank 0's MPI_Wtime: if they are slow, fewer are created and fewer rounds made. Collective. Returns the
// candidates that were created, the fastest first; without rounds if there was no choice, and empty if none
// supports this communicator.
std::vector<Trial> try_out(MPI_Comm comm, const WaitPolicy& wait_policy,
                           const std::vector<const BarrierAlgorithm*>& candidates, double begun,
                           double limit);

}  // namespace hockney
