// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/parts.hpp"

namespace hockney::npb {

// A rank's part of a grid of n x n x n points: whole rows in x, the rows `y` of the planes `z`. It is
// surrounded by one row and plane on each side for the neighbors' values. Rows need no such points at their
// ends, because the grid is periodic and rows are whole.
struct MgBlock {
  std::size_t n = 0;
  Range y{0, 0};
  Range z{0, 0};

  // Elements from a row to the next, and from a plane to the next. Rows begin at cache lines; planes begin at
  // different positions in a page.
  std::size_t stride() const { return (n + 7) / 8 * 8; }
  std::size_t plane() const { return (y.size() + 2) * stride() + 8; }
  std::size_t size() const { return (z.size() + 2) * plane(); }
  std::size_t points() const { return n * y.size() * z.size(); }

  // Offset of row j of plane k, relative to this block's first ones; -1 and y.size() or z.size() are the
  // neighbors'.
  std::ptrdiff_t at(std::ptrdiff_t j, std::ptrdiff_t k) const {
    return (k + 1) * static_cast<std::ptrdiff_t>(plane()) + (j + 1) * static_cast<std::ptrdiff_t>(stride());
  }
  std::ptrdiff_t rows() const { return static_cast<std::ptrdiff_t>(y.size()); }
  std::ptrdiff_t planes() const { return static_cast<std::ptrdiff_t>(z.size()); }
};

}  // namespace hockney::npb
