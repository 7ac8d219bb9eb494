// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "library/candidates.hpp"

#include <algorithm>

namespace hockney {

TrialOrderMember order_for(const NodeLayout& layout, int size) {
  if (size == 1) return &TrialOrder::single_rank;
  if (!layout.on_one_node) return &TrialOrder::multiple_nodes;
  return layout.oversubscribed ? &TrialOrder::oversubscribed : &TrialOrder::one_node;
}

std::vector<const BarrierAlgorithm*> candidates(std::span<const BarrierAlgorithm* const> table,
                                                TrialOrderMember place) {
  std::vector<const BarrierAlgorithm*> tried_candidates;
  for (const BarrierAlgorithm* algorithm : table)
    if (algorithm->trial_order.*place > 0) tried_candidates.push_back(algorithm);
  std::stable_sort(tried_candidates.begin(), tried_candidates.end(), [place](const auto* a, const auto* b) {
    return a->trial_order.*place < b->trial_order.*place;
  });
  if (place == &TrialOrder::single_rank && tried_candidates.size() > 1) tried_candidates.resize(1);
  return tried_candidates;
}

}  // namespace hockney
