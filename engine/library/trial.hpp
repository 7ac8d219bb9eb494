// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "comm/wait_policy.hpp"
#include "hockney/barrier.hpp"
#include "sync/algorithm.hpp"

namespace hockney {

// The largest of every rank's values, place by place, on all ranks. Collective; waits as `wait_policy` says.
void agree(MPI_Comm comm, const WaitPolicy& wait_policy, std::vector<double>& values);

// A candidate that was made, and its seconds an episode, one number a round.
struct Trial {
  const BarrierAlgorithm* algorithm;
  std::unique_ptr<Barrier> barrier;
  std::vector<double> rounds;
};

// Makes and times `candidates`, the likeliest first, until about `limit` seconds after `begun`, a time of
// rank 0's MPI_Wtime: fewer are made, in less rounds, where they are slow. Collective. Gives what was made,
// the quickest first; without rounds where there was no choice, and nothing where all refuse this
// communicator.
std::vector<Trial> try_out(MPI_Comm comm, const WaitPolicy& wait_policy,
                           const std::vector<const BarrierAlgorithm*>& candidates, double begun,
                           double limit);

}  // namespace hockney
