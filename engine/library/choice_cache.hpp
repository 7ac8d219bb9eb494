// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <compare>
#include <vector>

#include "comm/wait_policy.hpp"
#include "sync/algorithm.hpp"

namespace hockney {

// What the choice of a barrier depends on: the number of ranks, which of them share a node, and whether they
// have to share cores.
struct Situation {
  int size;
  std::vector<int> nodes;  // for each rank the lowest rank of its node; empty if all are on one
  bool crowded;

  auto operator<=>(const Situation&) const = default;
};

// Collective.
Situation situation_of(MPI_Comm comm, const NodeLayout& layout);

// The algorithm that was the fastest in this situation, the same on all ranks; nullptr unless all of them
// remember one. Collective.
const BarrierAlgorithm* remembered(const Situation& situation, MPI_Comm comm, const WaitPolicy& wait_policy);

// Affects this process only.
void remember(const Situation& situation, const BarrierAlgorithm& algorithm);

}  // namespace hockney
