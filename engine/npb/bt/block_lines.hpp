// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "npb/adi/lines.hpp"

// The block tridiagonal systems of BT along 8 lines at once, one in each lane. Row i of a line is
//   A_i x_{i-1} + B_i x_i + C_i x_{i+1} = r_i,
// with blocks of 5 x 5 that follow from U at the points i - 1, i and i + 1 (Bailey et al. 1994, section 3.7).
// Components are in the order density, momentum along the line, the other two momenta, energy, so that all
// directions have the same blocks. Elimination forms the blocks and replaces the row by x_i = r'_i - C'_i
// x_{i+1}; it is the block version of Thomas's algorithm.
namespace hockney::npb::block_tridiagonal {

using adi::components;

inline constexpr std::size_t block_size = components * components;
// C'_i, then r_i, r'_i or x_i.
inline constexpr std::size_t row_size = block_size + components;

// Of one direction.
struct BlockFactors {
  double first;      // dt / (2 h)
  double second;     // dt / h^2
  double viscosity;  // artificial
};

// From U, with its components in this order, to what the blocks are formed of: 1 / density, the velocities,
// energy / density. In place.
void set_points(std::size_t points, double* values);

// Eliminates rows 1 to `rows` of `line`, whose row 0 has been eliminated; `points` has points 0 to rows + 1.
void eliminate(const BlockFactors& factors, std::size_t rows, const double* points, double* line);

// Computes x_i for i = `rows` down to 1. Row rows + 1 has x.
void substitute(std::size_t rows, double* line);

}  // namespace hockney::npb::block_tridiagonal
