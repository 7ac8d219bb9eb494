// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measure/arena.hpp"
#include "npb/flow/subgrid.hpp"

namespace hockney::npb::flow {

// Five numbers for each point of a subgrid, ghosts included. A row (fixed j and k) has the values of its
// first component for all i, then those of the second one, and so on; rows follow each other by j, planes by
// k. So the rows of a component are contiguous for vector instructions, and the components of a point are
// close. Own points begin at a multiple of 64 bytes, and rows are padded to one.
class Field {
 public:
  // All zero. Throws OutOfMemory.
  Field(Arena& arena, const Subgrid& subgrid);
  ~Field() { arena_.give_back(reinterpret_cast<std::byte*>(memory_)); }
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  // Component m of the points (0, j, k), (1, j, k), ...; -2 <= j < size[1] + 2 and so on.
  double* row(int m, int j, int k) { return origin_ + m * component + j * step[1] + k * step[2]; }
  const double* row(int m, int j, int k) const { return origin_ + m * component + j * step[1] + k * step[2]; }

  // From a point's component to the next one, and from a point to the next one in each direction.
  Index component;
  std::array<Index, 3> step;

 private:
  Arena& arena_;
  double* memory_;
  double* origin_;
};

// A multiple of the doubles in a cache line or in a vector register.
constexpr Index whole_lines(Index length) {
  constexpr Index line = 8;
  return (length + line - 1) / line * line;
}
// The doubles from one component of a row to the next one, for `length` own points and their ghosts. Loops
// may run over whole_lines(length) points instead, and meet meaningless numbers in the last ones.
constexpr Index row_length(int length) {
  return whole_lines(ghost_layers) + whole_lines(length + ghost_layers);
}
// From the beginning of a row's memory to its first own point.
inline constexpr Index row_origin = whole_lines(ghost_layers);

// Asks for all components of a row of a field, which a loop will need later.
inline void prefetch_row(const double* row, Index component, int length) {
  for (Index i = 0; i < 4 * component + length; i += whole_lines(1)) __builtin_prefetch(row + i);
}

}  // namespace hockney::npb::flow
