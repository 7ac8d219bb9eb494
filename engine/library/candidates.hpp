// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "comm/wait_policy.hpp"
#include "sync/algorithm.hpp"

namespace hockney {

// The member of TrialOrder that applies.
using TrialOrderMember = int TrialOrder::*;
TrialOrderMember order_for(const NodeLayout& layout, int size);

// The algorithms to try in this situation, in order of their likelihood to be the fastest (ties in table
// order), since an oversubscribed or slow machine has no time to try them all. A single rank has one
// candidate.
std::vector<const BarrierAlgorithm*> candidates(std::span<const BarrierAlgorithm* const> table,
                                                TrialOrderMember place);

}  // namespace hockney
