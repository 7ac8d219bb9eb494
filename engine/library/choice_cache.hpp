// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <compare>
#include <vector>

#include "comm/wait_policy.hpp"
#include "sync/algorithm.hpp"

namespace hockney {

// The criteria for choosing a barrier: the number of ranks, which of them share a node, and whether they have
// to share cores.
struct Situation {
  int size;
  std::vector<int> nodes;  // for each rank the lowest rank of its node; empty if all are on one node
  bool oversubscribed;

  auto operator<=>(const Situation&) const = default;
};

// Collective.
Situation make_situation(MPI_Comm comm, const NodeLayout& layout);

// The fastest algorithm found in this situation, the same on all ranks; nullptr unless all ranks remember
// one. Collective.
const BarrierAlgorithm* remembered_choice(const Situation& situation, MPI_Comm comm,
                                          const WaitPolicy& wait_policy);

// Only affects this process.
void remember_choice(const Situation& situation, const BarrierAlgorithm& algorithm);

}  // namespace hockney
