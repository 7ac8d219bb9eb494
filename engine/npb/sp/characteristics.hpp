// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "npb/adi/lines.hpp"
#include "npb/flow/equations.hpp"

// Changes of variables between the systems of SP. The Jacobians of all directions have the same eigenvalues
// up to the speed, so each direction's systems are solved in the characteristic variables of that direction.
namespace hockney::npb::pentadiagonal {

// Values derived from U at a point.
template <class V>
struct State {
  V density, inverse, x, y, z, kinetic, sound_squared;  // velocities, half their square
};

template <std::size_t W, class V = adi::Lanes<W>>
HOCKNEY_INLINE State<V> state_at(const double* u) {
  constexpr std::size_t width = adi::lines_together;
  State<V> s;
  s.density = adi::load<W>(u);
  s.inverse = 1.0 / s.density;
  s.x = adi::load<W>(u + width) * s.inverse;
  s.y = adi::load<W>(u + 2 * width) * s.inverse;
  s.z = adi::load<W>(u + 3 * width) * s.inverse;
  s.kinetic = 0.5 * (s.x * s.x + s.y * s.y + s.z * s.z);
  s.sound_squared = flow::c1 * flow::c2 * (adi::load<W>(u + 4 * width) * s.inverse - s.kinetic);
  return s;
}

template <class V>
HOCKNEY_INLINE V square_root(const V& squares) {
  V roots;
  for (std::size_t lane = 0; lane < sizeof(V) / sizeof(double); ++lane)
    roots[lane] = std::sqrt(squares[lane]);
  return roots;
}

// These functions change the variables r of `rows` rows of 8 lines in place; rows are `pitch` doubles apart.
// `u` is U at these points.
void to_x_characteristics(std::size_t rows, const double* u, double* r, std::size_t pitch);
void x_to_y_characteristics(std::size_t rows, double* r, std::size_t pitch);
void y_to_z_characteristics(std::size_t rows, double* r, std::size_t pitch);
void from_z_characteristics(std::size_t rows, const double* u, double* r, std::size_t pitch);

}  // namespace hockney::npb::pentadiagonal
