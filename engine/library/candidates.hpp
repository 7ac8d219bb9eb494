// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "comm/wait_policy.hpp"
#include "sync/algorithm.hpp"

namespace hockney {

// Which of an algorithm's trial orders applies.
using Situated = int TrialOrder::*;
Situated place_in(const NodeLayout& layout, int size);

// The algorithms to try there, the likeliest to be fastest first (ties in table order), since an
// oversubscribed or slow machine has no time to try them all. A single rank has one candidate.
std::vector<const BarrierAlgorithm*> candidates(std::span<const BarrierAlgorithm* const> table,
                                                Situated place);

}  // namespace hockney
