// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "comm/wait_policy.hpp"
#include "sync/algorithm.hpp"

namespace hockney {

// Which of an algorithm's numbers says when it is tried.
using Situated = int TrialOrder::*;
Situated place_in(const NodeLayout& layout, int size);

// What can be the quickest there, the likeliest first, since an oversubscribed or a slow machine has no time
// to try all of it; of what is equally likely the first in the table. A single rank has one candidate.
std::vector<const BarrierAlgorithm*> candidates(std::span<const BarrierAlgorithm* const> table,
                                                Situated place);

}  // namespace hockney
