// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/grid.hpp"

namespace hockney::npb {
namespace {

// Half the number of rows that the largest block exchanges.
std::size_t mg_surface(const MgGrid& grid, std::size_t n) {
  const std::size_t rows = (n + grid.rows - 1) / grid.rows, planes = (n + grid.planes - 1) / grid.planes;
  return (grid.planes > 1 ? rows : 0) + (grid.rows > 1 ? planes : 0);
}

}  // namespace

std::optional<MgGrid> MgGrid::of(std::size_t ranks, std::size_t n) {
  std::optional<MgGrid> best;
  for (std::size_t rows = 1; rows <= ranks && rows <= n; ++rows) {
    if (ranks % rows != 0 || ranks / rows > n) continue;
    const MgGrid grid{rows, ranks / rows};
    if (!best || mg_surface(grid, n) < mg_surface(*best, n)) best = grid;
  }
  return best;
}

std::size_t MgGrid::max_ranks(std::size_t ranks, std::size_t n) {
  while (!of(ranks, n)) --ranks;
  return ranks;
}

MgBlock MgGrid::block(std::size_t rank, std::size_t n, std::size_t coarser) const {
  const Range y = part_of(n, rows, rank % rows), z = part_of(n, planes, rank / rows);
  // Coarse point J is at the position of fine point 2J + 1, so it belongs to this block if begin <= 2J + 1 <
  // end.
  return {n / coarser, {y.begin / coarser, y.end / coarser}, {z.begin / coarser, z.end / coarser}};
}

bool MgGrid::divides_level(std::size_t n, std::size_t coarser) const {
  for (std::size_t rank = 0; rank < rows * planes; ++rank)
    if (block(rank, n, coarser).points() == 0) return false;
  return true;
}

}  // namespace hockney::npb
