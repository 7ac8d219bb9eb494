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

  // result = factor L(u) - forcing, at own points only. Both ghost layers of u's faces are read. Without a
  // forcing (null) the result is factor L(u); that of the exact solution is the forcing to be given.
  void apply(const Field& u, const Field* forcing, Field& result);

 private:
  const Subgrid subgrid_;
  const double factor_;
  // Of U(i - 2) to U(i + 2), by direction and index: artificial viscosity and dissipation.
  std::array<std::vector<Five>, 3> stencils_;
  // Those of x again, as a row for each of the five: x is the direction of vector instructions.
  std::vector<double> rows_x_;
  const Index row_;
  const int tile_;  // rows that are processed together
  const Index plane_;
  Buffer planes_;  // velocities, pressure and viscous potential of energy, of these rows in three planes
  const std::vector<double> nothing_;  // a row of zeros, instead of a forcing
};

}  // namespace hockney::npb::flow
