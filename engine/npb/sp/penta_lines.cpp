// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/sp/penta_lines.hpp"

#include "npb/flow/equations.hpp"
#include "npb/sp/characteristics.hpp"

namespace hockney::npb::pentadiagonal {
namespace {

using adi::each;
using adi::Lanes;
using adi::load;
using adi::store;

constexpr std::size_t width = adi::lines_together;
constexpr std::size_t row_pitch = row_size * width;
constexpr std::size_t point_pitch = components * width;
constexpr std::size_t right = 2 * systems * width;

// The viscous part of a point is the maximum of four values of viscosity + c / density; the one for heat
// conduction is always the largest.
constexpr double heat = flow::c1 * flow::c5 * flow::c3 * flow::c4;

constexpr std::size_t system_of(std::size_t component) {
  return component < 3 ? 0 : component - 2;
}

template <class V>
struct Point {
  V eigenvalues[systems];  // times dt / (2 h)
  V viscous;               // times dt / h^2
};

template <std::size_t W, class V = Lanes<W>>
HOCKNEY_INLINE Point<V> point_at(const Factors& factors, const double* from) {
  const V speed = factors.first * load<W>(from);
  const V sound = factors.first * load<W>(from + width);
  const V viscous = factors.second * (factors.viscosity + heat * load<W>(from + 2 * width));
  return {{speed, speed + sound, speed - sound}, viscous};
}

// A row that precedes the one being eliminated.
template <class V>
struct Eliminated {
  V c[systems], f[systems], r[components];
};

template <std::size_t W, class V = Lanes<W>>
HOCKNEY_INLINE Eliminated<V> eliminated(const double* row) {
  Eliminated<V> e;
  each<systems>([&](auto s) __attribute__((always_inline)) {
    e.c[s] = load<W>(row + 2 * s * width);
    e.f[s] = load<W>(row + (2 * s + 1) * width);
  });
  each<components>([&](auto m) __attribute__((always_inline)) { e.r[m] = load<W>(row + right + m * width); });
  return e;
}

template <std::size_t W>
HOCKNEY_INLINE void eliminate_lines(const Factors& factors, std::size_t rows, bool first, bool last,
                                    const double* points, double* line) {
  using V = Lanes<W>;
  const double fourth = factors.dissipation;
  Eliminated<V> second_previous = eliminated<W>(line), previous = eliminated<W>(line + row_pitch);
  Point<V> before = point_at<W>(factors, points), here = point_at<W>(factors, points + point_pitch);
  for (std::size_t i = 0; i < rows; ++i) {
    const Point<V> after = point_at<W>(factors, points + (i + 2) * point_pitch);
    double* const row = line + (i + 2) * row_pitch;
    const bool end = (first && i == 0) || (last && i == rows - 1);
    const V diagonal = 1 + 2 * here.viscous + fourth * (end ? 5 : 6);
    Eliminated<V> current;
    V lower[systems], inverse[systems];
    each<systems>([&](auto s) __attribute__((always_inline)) {
      lower[s] = -before.eigenvalues[s] - before.viscous - 4 * fourth - fourth * second_previous.c[s];
      inverse[s] = 1.0 / (diagonal - fourth * second_previous.f[s] - lower[s] * previous.c[s]);
      current.c[s] =
          (after.eigenvalues[s] - after.viscous - 4 * fourth - lower[s] * previous.f[s]) * inverse[s];
      current.f[s] = fourth * inverse[s];
      store(row + 2 * s * width, current.c[s]);
      store(row + (2 * s + 1) * width, current.f[s]);
    });
    each<components>([&](auto m) __attribute__((always_inline)) {
      constexpr std::size_t s = system_of(m);
      double* const place = row + right + m * width;
      current.r[m] = (load<W>(place) - fourth * second_previous.r[m] - lower[s] * previous.r[m]) * inverse[s];
      store(place, current.r[m]);
    });
    second_previous = previous;
    previous = current;
    before = here;
    here = after;
  }
}

template <std::size_t W>
HOCKNEY_INLINE void substitute_lines(std::size_t rows, double* line) {
  using V = Lanes<W>;
  V previous[components], second_previous[components];
  each<components>([&](auto m) __attribute__((always_inline)) {
    previous[m] = load<W>(line + (rows + 2) * row_pitch + right + m * width);
    second_previous[m] = load<W>(line + (rows + 3) * row_pitch + right + m * width);
  });
  for (std::size_t i = rows + 1; i > 1; --i) {
    double* const row = line + i * row_pitch;
    each<components>([&](auto m) __attribute__((always_inline)) {
      constexpr std::size_t s = 2 * system_of(m) * width;
      double* const place = row + right + m * width;
      const V x =
          load<W>(place) - load<W>(row + s) * previous[m] - load<W>(row + s + width) * second_previous[m];
      store(place, x);
      second_previous[m] = previous[m];
      previous[m] = x;
    });
  }
}

}  // namespace

void set_points(std::size_t points, std::size_t direction, double* values) {
  adi::vectorised([&]<std::size_t W>() __attribute__((always_inline)) {
    for (std::size_t i = 0; i < points; ++i)
      for (std::size_t lane = 0; lane < width; lane += W) {
        double* const at = values + i * point_pitch + lane;
        const auto state = state_at<W>(at);
        store(at, load<W>(at + (1 + direction) * width) * state.inverse);
        store(at + width, square_root(state.sound_squared));
        store(at + 2 * width, state.inverse);
      }
  });
}

void eliminate(const Factors& factors, std::size_t rows, bool first, bool last, const double* points,
               double* line) {
  adi::vectorised([&]<std::size_t W>() __attribute__((always_inline)) {
    for (std::size_t lane = 0; lane < width; lane += W)
      eliminate_lines<W>(factors, rows, first, last, points + lane, line + lane);
  });
}

void substitute(std::size_t rows, double* line) {
  adi::vectorised([&]<std::size_t W>() __attribute__((always_inline)) {
    for (std::size_t lane = 0; lane < width; lane += W) substitute_lines<W>(rows, line + lane);
  });
}

}  // namespace hockney::npb::pentadiagonal
