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

// Factors of one direction.
struct Factors {
  double first;        // dt / (2 h)
  double second;       // dt / h^2
  double viscosity;    // artificial
  double dissipation;  // dt times the factor of the fourth difference
};

// Converts U at points of 8 lines to the values from which the rows are formed: the speed along the line, the
// speed of sound and 1 / density. In place, as the first three of five numbers.
void set_points(std::size_t points, std::size_t direction, double* values);

// Eliminates the rows 2 to `rows` + 1 of `line`, whose rows 0 and 1 have been eliminated. `points` contains
// points 1 to rows + 2. `first` and `last` state whether the line begins and ends at the grid's ends, where
// the fourth difference is one-sided.
void eliminate(const Factors& factors, std::size_t rows, bool first, bool last, const double* points,
               double* line);

// Computes x_i for i = `rows` + 1 down to 2. The subsequent rows already contain x.
void substitute(std::size_t rows, double* line);

}  // namespace hockney::npb::pentadiagonal
