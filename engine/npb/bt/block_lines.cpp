// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/bt/block_lines.hpp"

#include "npb/flow/equations.hpp"

namespace hockney::npb::block_tridiagonal {
namespace {

using adi::each;
using adi::Lanes;
using adi::load;
using adi::store;
using flow::c1;
using flow::c2;

// The coefficients of viscosity and of heat conduction.
constexpr double across_viscosity = flow::c3 * flow::c4;
constexpr double along_viscosity = across_viscosity * 4 / 3;
constexpr double heat = across_viscosity * flow::c1 * flow::c5;

constexpr std::size_t width = adi::lines_together;
constexpr std::size_t row_pitch = row_size * width;
constexpr std::size_t point_pitch = components * width;

template <class V>
using Block = V[components][components];

template <class V>
struct Point {
  V inverse_density, along, side, other, energy;  // the energy per mass
};

template <std::size_t W, class V = Lanes<W>>
HOCKNEY_INLINE Point<V> point_at(const double* from) {
  return {load<W>(from), load<W>(from + width), load<W>(from + 2 * width), load<W>(from + 3 * width),
          load<W>(from + 4 * width)};
}

// first F' - second (N + viscosity I): F' the Jacobian of the flux along the line, N that of viscosity.
// Entries that are zero are not set.
template <class V>
HOCKNEY_INLINE void jacobian(const Point<V>& p, double first, double second, double viscosity,
                             Block<V>& block) {
  const V zero = {};
  const V squared = p.along * p.along;
  const V across_extent = p.side * p.side + p.other * p.other;
  const V kinetic = 0.5 * (squared + across_extent);
  const V thin = second * p.inverse_density;
  const V damping = zero + second * viscosity;
  const V shear = across_viscosity * thin;
  const V stretch = along_viscosity * thin;
  const V carried = first * p.along;

  block[0][0] = -damping;
  block[0][1] = zero + first;

  block[1][0] = first * (c2 * kinetic - squared) + stretch * p.along;
  block[1][1] = (2 - c2) * carried - stretch - damping;
  block[1][2] = (-c2 * first) * p.side;
  block[1][3] = (-c2 * first) * p.other;
  block[1][4] = zero + c2 * first;

  const V diagonal = carried - shear - damping;
  block[2][0] = (shear - carried) * p.side;
  block[2][1] = first * p.side;
  block[2][2] = diagonal;
  block[3][0] = (shear - carried) * p.other;
  block[3][1] = first * p.other;
  block[3][3] = diagonal;

  const V enthalpy = c1 * p.energy;
  const V conduction = heat * thin;
  const V side_friction = (across_viscosity - heat) * thin;
  const V along_friction = (along_viscosity - heat) * thin;
  block[4][0] = (2 * c2 * kinetic - enthalpy) * carried + along_friction * squared +
                side_friction * across_extent + conduction * p.energy;
  block[4][1] = first * (enthalpy - c2 * (squared + kinetic)) - along_friction * p.along;
  block[4][2] = -(c2 * carried + side_friction) * p.side;
  block[4][3] = -(c2 * carried + side_friction) * p.other;
  block[4][4] = c1 * carried - conduction - damping;
}

// row . column, without the entries of the block that are zero.
template <std::size_t row, class V>
HOCKNEY_INLINE V sparse_product(const Block<V>& a, const V (&x)[components]) {
  if constexpr (row == 0)
    return a[0][0] * x[0] + a[0][1] * x[1];
  else if constexpr (row == 2 || row == 3)
    return a[row][0] * x[0] + a[row][1] * x[1] + a[row][row] * x[row];
  else
    return a[row][0] * x[0] + a[row][1] * x[1] + a[row][2] * x[2] + a[row][3] * x[3] + a[row][4] * x[4];
}

// The diagonal block I + 2 second (N + viscosity I) is lower triangular: its column `column`, added.
template <std::size_t column, class V>
HOCKNEY_INLINE void add_diagonal(const Point<V>& p, double second, double viscosity, V (&x)[components]) {
  const V thin = (2 * second) * p.inverse_density;
  const double damping = 1 + 2 * second * viscosity;
  const V shear = across_viscosity * thin;
  const V stretch = along_viscosity * thin;
  if constexpr (column == 0) {
    const V squared = p.along * p.along;
    const V across_extent = p.side * p.side + p.other * p.other;
    x[0] += damping;
    x[1] -= stretch * p.along;
    x[2] -= shear * p.side;
    x[3] -= shear * p.other;
    x[4] -=
        ((along_viscosity - heat) * squared + (across_viscosity - heat) * across_extent + heat * p.energy) *
        thin;
  } else if constexpr (column == 1) {
    x[1] += stretch + damping;
    x[4] += (along_viscosity - heat) * thin * p.along;
  } else if constexpr (column == 4) {
    x[4] += heat * thin + damping;
  } else {
    x[column] += shear + damping;
    x[4] += (across_viscosity - heat) * thin * (column == 2 ? p.side : p.other);
  }
}

// The factors L and U in place, with the reciprocals of the pivots. There is no pivoting: the diagonal blocks
// dominate.
template <class V>
HOCKNEY_INLINE void factorise(Block<V>& m) {
  each<components>([&](auto k) __attribute__((always_inline)) {
    m[k][k] = 1.0 / m[k][k];
    each<components>([&](auto i) __attribute__((always_inline)) {
      if constexpr (i > k) {
        m[i][k] *= m[k][k];
        each<components>([&](auto j) __attribute__((always_inline)) {
          if constexpr (j > k) m[i][j] -= m[i][k] * m[k][j];
        });
      }
    });
  });
}

// x = M^-1 x. The first `zeros` entries are zero.
template <std::size_t zeros, class V>
HOCKNEY_INLINE void apply_inverse(const Block<V>& m, V (&x)[components]) {
  each<components>([&](auto k) __attribute__((always_inline)) {
    if constexpr (k >= zeros)
      each<components>([&](auto i) __attribute__((always_inline)) {
        if constexpr (i > k) x[i] -= m[i][k] * x[k];
      });
  });
  each<components>([&](auto reversed) __attribute__((always_inline)) {
    constexpr std::size_t k = components - 1 - reversed;
    x[k] *= m[k][k];
    each<components>([&](auto i) __attribute__((always_inline)) {
      if constexpr (i < k) x[i] -= m[i][k] * x[k];
    });
  });
}

template <std::size_t W, class V>
HOCKNEY_INLINE void load_all(const double* from, std::size_t pitch, V (&x)[components]) {
  each<components>([&](auto i) __attribute__((always_inline)) { x[i] = load<W>(from + i * pitch); });
}

template <std::size_t W>
HOCKNEY_INLINE void eliminate_row(const BlockFactors& factors, const double* points, double* row) {
  using V = Lanes<W>;
  const double* const before = row - row_pitch;
  constexpr std::size_t right = block_size * width;

  // M = B - A C'_{i-1}, column by column, and r - A r'_{i-1}.
  Block<V> m;
  V r[components];
  {
    Block<V> a;
    jacobian(point_at<W>(points - point_pitch), -factors.first, factors.second, factors.viscosity, a);
    const Point<V> point = point_at<W>(points);
    V x[components], y[components];
    each<components>([&](auto j) __attribute__((always_inline)) {
      load_all<W>(before + j * width, components * width, x);
      each<components>([&](auto i) __attribute__((always_inline)) { y[i] = -sparse_product<i>(a, x); });
      add_diagonal<j>(point, factors.second, factors.viscosity, y);
      each<components>([&](auto i) __attribute__((always_inline)) { m[i][j] = y[i]; });
    });
    load_all<W>(before + right, width, x);
    load_all<W>(row + right, width, r);
    each<components>([&](auto i) __attribute__((always_inline)) { r[i] -= sparse_product<i>(a, x); });
  }
  factorise(m);
  apply_inverse<0>(m, r);
  each<components>([&](auto i) __attribute__((always_inline)) { store(row + right + i * width, r[i]); });

  Block<V> c;
  jacobian(point_at<W>(points + point_pitch), factors.first, factors.second, factors.viscosity, c);
  each<components>([&](auto j) __attribute__((always_inline)) {
    V x[components];
    each<components>([&](auto i) __attribute__((always_inline)) {
      constexpr bool zero = (i == 0 && j > 1) || (i == 2 && j > 2) || (i == 3 && (j == 2 || j == 4));
      if constexpr (zero)
        x[i] = V{};
      else
        x[i] = c[i][j];
    });
    apply_inverse<(j > 1 ? 1 : 0)>(m, x);
    each<components>([&](auto i)
                         __attribute__((always_inline)) { store(row + (i * components + j) * width, x[i]); });
  });
}

}  // namespace

void set_points(std::size_t points, double* values) {
  adi::vectorised([&]<std::size_t W>() __attribute__((always_inline)) {
    for (double* at = values; at != values + points * point_pitch; at += point_pitch)
      for (std::size_t lane = 0; lane < width; lane += W) {
        double* const u = at + lane;
        const auto inverse = 1.0 / load<W>(u);
        store(u, inverse);
        for (std::size_t m = 1; m < components; ++m) store(u + m * width, load<W>(u + m * width) * inverse);
      }
  });
}

void eliminate(const BlockFactors& factors, std::size_t rows, const double* points, double* line) {
  adi::vectorised([&]<std::size_t W>() __attribute__((always_inline)) {
    for (std::size_t lane = 0; lane < width; lane += W)
      for (std::size_t i = 1; i <= rows; ++i)
        eliminate_row<W>(factors, points + i * point_pitch + lane, line + i * row_pitch + lane);
  });
}

void substitute(std::size_t rows, double* line) {
  adi::vectorised([&]<std::size_t W>() __attribute__((always_inline)) {
    using V = Lanes<W>;
    constexpr std::size_t right = block_size * width;
    for (std::size_t lane = 0; lane < width; lane += W) {
      V x[components];
      load_all<W>(line + (rows + 1) * row_pitch + right + lane, width, x);
      for (std::size_t i = rows; i > 0; --i) {
        double* const row = line + i * row_pitch + lane;
        V next[components];
        load_all<W>(row + right, width, next);
        each<components>([&](auto k) __attribute__((always_inline)) {
          each<components>([&](auto j) __attribute__((always_inline)) {
            next[k] -= load<W>(row + (k * components + j) * width) * x[j];
          });
        });
        each<components>([&](auto k) __attribute__((always_inline)) {
          x[k] = next[k];
          store(row + right + k * width, x[k]);
        });
      }
    }
  });
}

}  // namespace hockney::npb::block_tridiagonal
