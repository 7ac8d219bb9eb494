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
void reduce_max(MPI_Comm comm, const WaitPolicy& wait_policy, std::vector<double>& values);

// A candidate barrier, and its seconds per episode in each round.
struct Trial {
  const BarrierAlgorithm* algorithm;
  std::unique_ptr<Barrier> barrier;
  std::vector<double> rounds;
};

// Creates and times `candidates`, the likeliest first, until about `limit` seconds after `start_s`, a time of
// rank 0's MPI_Wtime. If they are slow, fewer are created and fewer rounds are made. Collective. Returns the
// created candidates, the fastest first. They have no rounds if there was no choice; the result is empty if
// no candidate supports this communicator.
std::vector<Trial> run_trials(MPI_Comm comm, const WaitPolicy& wait_policy,
                              const std::vector<const BarrierAlgorithm*>& candidates, double start_s,
                              double limit);

}  // namespace hockney
