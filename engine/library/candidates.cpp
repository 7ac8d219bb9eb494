// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "library/candidates.hpp"

#include <algorithm>

namespace hockney {

Situated place_in(const NodeLayout& layout, int size) {
  if (size == 1) return &TrialOrder::alone;
  if (!layout.whole) return &TrialOrder::several_nodes;
  return layout.crowded ? &TrialOrder::oversubscribed : &TrialOrder::one_node;
}

std::vector<const BarrierAlgorithm*> candidates(std::span<const BarrierAlgorithm* const> table,
                                                Situated place) {
  std::vector<const BarrierAlgorithm*> tried;
  for (const BarrierAlgorithm* algorithm : table)
    if (algorithm->tried.*place > 0) tried.push_back(algorithm);
  std::stable_sort(tried.begin(), tried.end(),
                   [place](const auto* a, const auto* b) { return a->tried.*place < b->tried.*place; });
  if (place == &TrialOrder::alone && tried.size() > 1) tried.resize(1);
  return tried;
}

}  // namespace hockney
