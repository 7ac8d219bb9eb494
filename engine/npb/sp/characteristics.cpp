// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/sp/characteristics.hpp"

namespace hockney::npb::pentadiagonal {
namespace {

using adi::Lanes;
using adi::load;
using adi::store;

constexpr double half_root = 0.70710678118654752440;  // half of the square root of 2

// body(u, r, V[5]) changes the five variables of each row and vector.
template <std::size_t W, class Body>
HOCKNEY_INLINE void for_each_row(std::size_t rows, const double* u, double* r, std::size_t pitch,
                                 const Body& body) {
  using V = Lanes<W>;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t lane = 0; lane < adi::lines_together; lane += W) {
      double* const at = r + i * pitch + lane;
      V values[adi::components];
      adi::each<adi::components>(
          [&](auto m) __attribute__((always_inline)) { values[m] = load<W>(at + m * adi::lines_together); });
      body(u + i * adi::components * adi::lines_together + lane, values);
      adi::each<adi::components>(
          [&](auto m) __attribute__((always_inline)) { store(at + m * adi::lines_together, values[m]); });
    }
}

template <class V>
HOCKNEY_INLINE void assign(V (&r)[adi::components], const V (&values)[adi::components]) {
  adi::each<adi::components>([&](auto m) __attribute__((always_inline)) { r[m] = values[m]; });
}

}  // namespace

void to_x_characteristics(std::size_t rows, const double* u, double* r, std::size_t pitch) {
  adi::vectorised([&]<std::size_t W>() __attribute__((always_inline)) {
    using V = Lanes<W>;
    for_each_row<W>(
        rows, u, r, pitch, [](const double* at, V(&r)[adi::components]) __attribute__((always_inline)) {
          const State<V> s = state_at<W>(at);
          const V pressure =
              flow::c2 / s.sound_squared * (s.kinetic * r[0] - s.x * r[1] - s.y * r[2] - s.z * r[3] + r[4]);
          const V scale = half_root * s.inverse;
          const V speed = scale * (s.x * r[0] - r[1]);
          const V sound = scale * square_root(s.sound_squared) * pressure;
          assign<V>(r, {r[0] - pressure, (r[3] - s.z * r[0]) * s.inverse, (s.y * r[0] - r[2]) * s.inverse,
                        sound - speed, sound + speed});
        });
  });
}

void x_to_y_characteristics(std::size_t rows, double* r, std::size_t pitch) {
  adi::vectorised([&]<std::size_t W>() __attribute__((always_inline)) {
    using V = Lanes<W>;
    for_each_row<W>(rows, r, r, pitch,
                    [](const double*, V(&r)[adi::components]) __attribute__((always_inline)) {
                      const V mean = 0.5 * (r[3] + r[4]), rotated = half_root * r[2];
                      assign<V>(r, {-r[1], r[0], half_root * (r[3] - r[4]), mean - rotated, mean + rotated});
                    });
  });
}

void y_to_z_characteristics(std::size_t rows, double* r, std::size_t pitch) {
  adi::vectorised([&]<std::size_t W>() __attribute__((always_inline)) {
    using V = Lanes<W>;
    for_each_row<W>(rows, r, r, pitch,
                    [](const double*, V(&r)[adi::components]) __attribute__((always_inline)) {
                      const V mean = 0.5 * (r[3] + r[4]), rotated = half_root * r[0];
                      assign<V>(r, {half_root * (r[3] - r[4]), -r[2], r[1], mean - rotated, mean + rotated});
                    });
  });
}

void from_z_characteristics(std::size_t rows, const double* u, double* r, std::size_t pitch) {
  adi::vectorised([&]<std::size_t W>() __attribute__((always_inline)) {
    using V = Lanes<W>;
    for_each_row<W>(rows, u, r, pitch,
                    [](const double* at, V(&r)[adi::components]) __attribute__((always_inline)) {
                      const State<V> s = state_at<W>(at);
                      const V scale = half_root * s.density;
                      const V pressure = scale / square_root(s.sound_squared) * (r[3] + r[4]);
                      const V density = r[2] + pressure;
                      const V momentum = scale * (r[3] - r[4]);
                      const V energy = s.density * (s.y * r[0] - s.x * r[1]) + s.kinetic * density +
                                       1 / flow::c2 * s.sound_squared * pressure + s.z * momentum;
                      assign<V>(r, {density, s.x * density - s.density * r[1],
                                    s.y * density + s.density * r[0], s.z * density + momentum, energy});
                    });
  });
}

}  // namespace hockney::npb::pentadiagonal
