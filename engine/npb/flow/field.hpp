// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measure/arena.hpp"
#include "npb/flow/subgrid.hpp"

namespace hockney::npb::flow {

// Five numbers for each point of a subgrid, including ghosts. A row (fixed j and k) contains the values of
// its first component for all i, then those of the second one, and so on; rows are ordered by j, planes by k.
// The rows of a component are therefore contiguous for vector instructions, and the components of a point are
// close. Own points begin at a multiple of 64 bytes, and rows are padded to one.
class Field {
 public:
  // Initialised with zeros. Throws OutOfMemory.
  Field(Arena& arena, const Subgrid& subgrid);
  ~Field() { arena_.give_back(reinterpret_cast<std::byte*>(memory_)); }
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  // Component m of the points (0, j, k), (1, j, k), ...; -2 <= j < size[1] + 2, likewise k.
  double* row(int m, int j, int k) { return origin_ + m * component + j * step[1] + k * step[2]; }
  const double* row(int m, int j, int k) const { return origin_ + m * component + j * step[1] + k * step[2]; }

  // Distances in doubles from a point's component to the next one, and from a point to the next one in each
  // direction.
  Index component;
  std::array<Index, 3> step;

 private:
  Arena& arena_;
  double* memory_;
  double* origin_;
};

// Rounds up to a multiple of the doubles in a cache line, which is also a multiple of those in a vector
// register.
constexpr Index whole_lines(Index length) {
  constexpr Index line = 8;
  return (length + line - 1) / line * line;
}
// Doubles from one component of a row to the next one, for `length` own points and their ghosts. Loops may
// run over whole_lines(length) points, whose last ones have meaningless values.
constexpr Index row_length(int length) {
  return whole_lines(ghost_layers) + whole_lines(length + ghost_layers);
}
// Doubles from the beginning of a row's memory to its first own point.
inline constexpr Index row_origin = whole_lines(ghost_layers);

// Prefetches all components of a row of a field for a later loop.
inline void prefetch_row(const double* row, Index component, int length) {
  for (Index i = 0; i < 4 * component + length; i += whole_lines(1)) __builtin_prefetch(row + i);
}

}  // namespace hockney::npb::flow
