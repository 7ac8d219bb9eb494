// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "measure/buffer.hpp"
#include "npb/flow/field.hpp"

namespace hockney::npb::flow {

// The coefficients of the fourth difference at index i of a line of `points` points (0 and points - 1 are the
// boundary), for the points i - 2 to i + 2. Next to the boundary it is one-sided.
Five fourth_difference(int i, int points);

// The right-hand side of LU, BT and SP: factor (L(U) - f), where L has the fluxes' central differences,
// viscous terms and artificial dissipation, and the forcing f = L(exact solution) makes that solution a
// steady one.
class Residual {
 public:
  Residual(Arena& arena, const Subgrid& subgrid, double factor);

  // Computes result = factor L(u) - forcing, at own points only. Reads both ghost layers of u's faces. If
  // `forcing` is null, the result is factor L(u), which for the exact solution is the forcing.
  void apply(const Field& u, const Field* forcing, Field& result);

 private:
  const Subgrid subgrid_;
  const double factor_;
  // Coefficients of U(i - 2) to U(i + 2), by direction and index: artificial viscosity and dissipation.
  std::array<std::vector<Five>, 3> stencils_;
  // The coefficients for x again, as one row for each of the five: x is the direction of vector instructions.
  std::vector<double> rows_x_;
  const Index row_;
  const int tile_;  // rows that are processed together
  const Index plane_;
  Buffer planes_;  // velocities, pressure and viscous energy potential of these rows in three planes
  const std::vector<double> zero_row_;  // replaces a missing forcing
};

}  // namespace hockney::npb::flow
