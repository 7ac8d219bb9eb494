// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "npb/mg/block.hpp"

namespace hockney::npb {

// The ranks in a grid of `rows` x `planes`, which divides the rows and the planes of each level of MG. Rank
// (y, z) has number y + rows z.
struct MgGrid {
  std::size_t rows;
  std::size_t planes;

  // The grid of `ranks` ranks with the smallest surface of a block; slabs of planes are preferred. Returns
  // nothing if the finest level, with n x n x n points, does not have a row and a plane for each rank.
  static std::optional<MgGrid> of(std::size_t ranks, std::size_t n);
  // The largest number of ranks, at most `ranks`, for which a grid exists.
  static std::size_t max_ranks(std::size_t ranks, std::size_t n);

  // A rank's block of the level with `coarser` times fewer points per side than the finest one, which has n
  // per side. A coarse point belongs to the rank that has the fine point at its position.
  MgBlock block(std::size_t rank, std::size_t n, std::size_t coarser) const;
  // Whether each rank has a row and a plane of that level.
  bool divides_level(std::size_t n, std::size_t coarser) const;
};

}  // namespace hockney::npb
