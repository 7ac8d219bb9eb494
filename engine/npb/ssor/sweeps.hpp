// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measure/buffer.hpp"
#include "npb/flow/field.hpp"

namespace hockney::npb::ssor {

// The two triangular solves of symmetric successive over-relaxation (Bailey et al. 1994, section 3.3.4),
// plane by plane:
//   lower: v(p) = D^-1 (v(p) - omega (X v(x - 1) + Y v(y - 1) + Z v(z - 1)))
//   upper: v(p) = v(p) - omega D^-1 (X' v(x + 1) + Y' v(y + 1) + Z' v(z + 1))
// The blocks X, Y, Z depend on U at the point that v is taken from, D on U at p itself. D is lower
// triangular, with zeros between the three momenta as well.
class Sweeps {
 public:
  Sweeps(Arena& arena, const flow::Subgrid& subgrid, double time_step);

  // Processes planes begin to end - 1, upwards. The inner ghosts of v at lower x and y must be set, and zero
  // on the boundary.
  void lower(const flow::Field& u, flow::Field& v, int begin, int end);
  // Processes planes end - 1 to begin, downwards; the ghosts at upper x and y must be set. After the last
  // plane, v / (omega (2 - omega)) has been added to u, at own points.
  void upper(flow::Field& u, flow::Field& v, int begin, int end);

  struct Factors {
    double convection;  // time step / (2 h)
    double diffusion;   // time step / h^2
    double diagonal;    // of D, without the viscous part
  };

 private:
  const flow::Subgrid subgrid_;
  const Factors factors_;
  Buffer rows_;  // matrices and vectors of one row of points
};

}  // namespace hockney::npb::ssor
