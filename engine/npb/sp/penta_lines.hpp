// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "npb/adi/lines.hpp"

// The pentadiagonal systems of SP along 8 lines at once, one in each lane (Bailey et al. 1994, section 3.7).
// The five components are uncoupled: the first three have the eigenvalue u of the Jacobian, the speed along
// the line, the others u + a and u - a, with the speed of sound a. Elimination replaces row i of each system
// by x_i = r'_i - c'_i x_{i+1} - f'_i x_{i+2}.
namespace hockney::npb::pentadiagonal {

using adi::components;

inline constexpr std::size_t systems = 3;
// c' and f' of each system, then r_i, r'_i or x_i of each component.
inline constexpr std::size_t row_size = 2 * systems + components;

// Of one direction.
struct Factors {
  double first;        // dt / (2 h)
  double second;       // dt / h^2
  double viscosity;    // artificial
  double dissipation;  // dt times that of the fourth difference
};

// From U at points of 8 lines to what the rows are formed of: the speed along the line, that of sound and
// 1 / density. In place, as the first three of five numbers.
void set_points(std::size_t points, std::size_t direction, double* values);

// Eliminates the rows 2 to `rows` + 1 of `line`, whose rows 0 and 1 have been eliminated. `points` has points
// 1 to rows + 2. The fourth difference is one-sided at the grid's ends: whether the first and the last row
// are.
void eliminate(const Factors& factors, std::size_t rows, bool first, bool last, const double* points,
               double* line);

// Computes x_i for i = `rows` + 1 down to 2. The rows after that have x.
void substitute(std::size_t rows, double* line);

}  // namespace hockney::npb::pentadiagonal
