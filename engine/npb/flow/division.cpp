// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/division.hpp"

namespace hockney::npb::flow {

// In a multi-partition, rank i + q j has the cells ((i + k) mod q, (j - k) mod q, k).
int Division::rank_of(const Triple& cell) const {
  const auto [x, y, z] = cell;
  if (!multiple) return (z * parts[1] + y) * parts[0] + x;
  const int q = parts[0];
  return (x - z + q) % q + q * ((y + z) % q);
}

std::vector<Subgrid> Division::cells_of(int rank) const {
  if (!multiple)
    return {{points, parts, {rank % parts[0], rank / parts[0] % parts[1], rank / parts[0] / parts[1]}}};
  const int q = parts[0], i = rank % q, j = rank / q;
  std::vector<Subgrid> cells;
  for (int k = 0; k < q; ++k) cells.push_back({points, parts, {(i + k) % q, (j - k + q) % q, k}});
  return cells;
}

}  // namespace hockney::npb::flow
