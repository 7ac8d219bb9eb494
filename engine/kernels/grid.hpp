// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string>

#include "base/invalid_case.hpp"
#include "base/parts.hpp"
#include "base/words.hpp"

namespace hockney::kernels {

// Ranks in a three-dimensional grid, the last dimension fastest.
struct Grid {
  std::array<std::size_t, 3> shape;

  std::size_t ranks() const { return shape[0] * shape[1] * shape[2]; }
  std::array<std::size_t, 3> coordinates_of(std::size_t rank) const {
    return {rank / (shape[1] * shape[2]), rank / shape[2] % shape[1], rank % shape[2]};
  }
  std::size_t rank_at(std::size_t i, std::size_t j, std::size_t k) const {
    return (i * shape[1] + j) * shape[2] + k;
  }
};

// Grid for the product of square matrices, in which rank (i, j, k) multiplies block (i, k) by block (k, j).
// Selects the grid in which a rank needs the fewest elements; a cube for 8, 27, 64 ranks.
inline Grid product_grid(std::size_t ranks) {
  Grid best{{ranks, 1, 1}};
  double min_elements = std::numeric_limits<double>::infinity();
  for (std::size_t c = 1; c <= ranks; ++c)
    for (std::size_t b = 1; ranks % c == 0 && b <= ranks / c; ++b) {
      if (ranks / c % b != 0) continue;
      const std::size_t a = ranks / c / b;
      const auto elements = 1.0 / static_cast<double>(a * c) + 1.0 / static_cast<double>(b * c) +
                            1.0 / static_cast<double>(a * b);
      if (elements >= min_elements - 1e-12 || a < b) continue;
      min_elements = elements;
      best = {{a, b, c}};
    }
  return best;
}

// Parses "auto" or "A:B:C", whose product is the number of ranks.
inline Grid parse_grid(const std::string& text, std::size_t ranks) {
  if (text == "auto") return product_grid(ranks);
  Grid grid{{0, 0, 0}};
  std::size_t begin = 0;
  for (std::size_t dimension = 0; dimension < 3; ++dimension) {
    const std::size_t end = dimension < 2 ? text.find(':', begin) : text.size();
    if (end == std::string::npos)
      throw InvalidCase("grid=" + text + " is neither auto nor three numbers, as 2:2:1");
    const std::int64_t length = to_integer(text.substr(begin, end - begin), "grid");
    if (length < 1 || length > 1000000) throw InvalidCase("grid=" + text + " has a dimension out of range");
    grid.shape[dimension] = static_cast<std::size_t>(length);
    begin = end + 1;
  }
  if (grid.ranks() != ranks)
    throw InvalidCase("grid=" + text + " has " + std::to_string(grid.ranks()) + " places for " +
                      std::to_string(ranks) + " ranks");
  return grid;
}

// Rows and columns of a two-dimensional grid, nearly square, with at most as many rows as columns.
inline std::array<std::size_t, 2> plane_grid(std::size_t ranks) {
  std::size_t rows = 1;
  for (std::size_t i = 1; i * i <= ranks; ++i)
    if (ranks % i == 0) rows = i;
  return {rows, ranks / rows};
}

}  // namespace hockney::kernels
