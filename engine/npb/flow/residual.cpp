// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/residual.hpp"

#include <algorithm>

#include "npb/flow/equations.hpp"
#include "npb/frame/instruction_sets.hpp"

namespace hockney::npb::flow {
namespace {

// The element of a stencil for the neighbor at this distance, -2 to 2.
template <class Stencil>
auto& of_neighbor(Stencil& stencil, int distance) {
  const int place = distance + 2;
  return stencil[static_cast<std::size_t>(place)];
}

// Values that the terms of a point need in addition to U: velocity (0 to 2), pressure c2 (E - q) with q =
// |momentum|^2 / (2 density), and the part of the viscous energy potential that all directions share.
constexpr int pressure = 3, potential = 4;

struct Coefficients {
  double convection;  // coefficient of F(i + 1) - F(i - 1)
  double diffusion;   // coefficient of G(i + 1) - 2 G(i) + G(i - 1)
};

// Rows of U, of the derived values, and of the result; all have the same distance between components.
struct Rows {
  const double* u;
  const double* here;
  const double* before;  // preceding row in the direction
  const double* after;
  const double* forcing;
  double* __restrict result;
  Index component, count;
};

[[gnu::always_inline]] inline void set_velocities(const double* __restrict u, double* __restrict to,
                                                  Index component, int begin, int end) {
  for (int i = begin; i < end; ++i) {
    const double inverse = 1 / u[i];
    const double mx = u[component + i], my = u[2 * component + i], mz = u[3 * component + i];
    const double energy = u[4 * component + i];
    const double vx = inverse * mx, vy = inverse * my, vz = inverse * mz;
    const double square = vx * vx + vy * vy + vz * vz;
    to[i] = vx;
    to[component + i] = vy;
    to[2 * component + i] = vz;
    to[pressure * component + i] = c2 * (energy - 0.5 * (vx * mx + vy * my + vz * mz));
    to[potential * component + i] = 0.5 * (1 - c1 * c5) * square + c1 * c5 * energy * inverse;
  }
}

// Adds the terms of direction d; the first direction starts from the negative forcing. `stencil(n, i)`: the
// coefficient of U(i + n).
template <int d, class Stencil>
[[gnu::always_inline]] inline void add_terms(const Rows& rows, Index step, const Stencil& stencil,
                                             const Coefficients& factors) {
  const Index c = rows.component;
  const double* const u = rows.u;
  double* __restrict const result = rows.result;
#pragma GCC ivdep
  for (Index i = 0; i < rows.count; ++i) {
    const auto linear = [&](int m) {
      const double* const at = u + m * c + i;
      return stencil(-2, i) * at[-2 * step] + stencil(-1, i) * at[-step] + stencil(0, i) * at[0] +
             stencil(1, i) * at[step] + stencil(2, i) * at[2 * step];
    };
    const auto before = [&](int m) { return rows.before[m * c + i]; };
    const auto here = [&](int m) { return rows.here[m * c + i]; };
    const auto after = [&](int m) { return rows.after[m * c + i]; };
    const auto second = [&](int m) { return before(m) - 2 * here(m) + after(m); };
    const auto add = [&](int m, double terms) {
      result[m * c + i] = terms + (d == 0 ? -rows.forcing[m * c + i] : result[m * c + i]);
    };
    const double speed_before = before(d), speed = here(d), speed_after = after(d);
    const auto flux = [&](int m) {
      return speed_after * u[m * c + step + i] - speed_before * u[m * c - step + i];
    };
    const double pressures = after(pressure) - before(pressure);

    add(0, linear(0) + factors.convection * (u[(1 + d) * c + step + i] - u[(1 + d) * c - step + i]));
    // This is not a loop, which would prevent vectorisation of the outer one.
    const auto add_momentum = [&](int m) {
      const double convective = m == d ? flux(1 + m) + pressures : flux(1 + m);
      const double viscous = (m == d ? 4.0 / 3 : 1.0) * second(m);
      add(1 + m, linear(1 + m) + factors.convection * convective + factors.diffusion * viscous);
    };
    add_momentum(0);
    add_momentum(1);
    add_momentum(2);
    const double work = speed_after * after(pressure) - speed_before * before(pressure);
    const double squares = speed_before * speed_before - 2 * (speed * speed) + speed_after * speed_after;
    add(4, linear(4) + factors.convection * (flux(4) + work) +
               factors.diffusion * (second(potential) + 1.0 / 6 * squares));
  }
}

struct Plane {
  const double* u;
  const double* forcing;
  Index forcing_row;  // 0 for a single row
  double* result;
  const double* before;  // derived values of this plane and its neighbors
  const double* here;
  const double* after;
  Index component, row, plane;  // doubles between components, rows, planes of U
  int count, rows;
  const double* stencil_x;  // one row for each of the five coefficients
  const Five* stencil_y;    // by j
  const Five* stencil_z;    // for this plane
};

HOCKNEY_VECTORISED void set_velocities_of_plane(const double* u, double* to, Index component, Index row,
                                                int count, int rows) {
  for (int j = -1; j <= rows; ++j) set_velocities(u + j * row, to + j * row, component, -1, count + 1);
}

HOCKNEY_VECTORISED void set_residual_of_plane(const Plane& plane, const Coefficients& factors) {
  const Index c = plane.component;
  const Index count = whole_lines(plane.count);
  for (int j = 0; j < plane.rows; ++j) {
    const Index at = j * plane.row;
    double* __restrict const result = plane.result + at;
    const double* const forcing = plane.forcing + j * plane.forcing_row;
    const double* const u = plane.u + at;
    const double* const here = plane.here + at;
    const double* const x = plane.stencil_x + 2 * count;
    double ghosts[5][ghost_layers];
    for (int m = 0; m < 5; ++m) std::copy_n(result + m * c + plane.count, ghost_layers, ghosts[m]);
    const Five y = plane.stencil_y[j], z = *plane.stencil_z;
    // Values of the next row that are not yet in a cache.
    prefetch_row(forcing + plane.forcing_row, c, count);
    add_terms<0>(
        {u, here, here - 1, here + 1, forcing, result, c, count}, 1,
        [x, count](int n, Index i) { return x[n * count + i]; }, factors);
    prefetch_row(result + plane.row, c, count);
    add_terms<1>(
        {u, here, here - plane.row, here + plane.row, forcing, result, c, count}, plane.row,
        [&y](int n, Index) { return of_neighbor(y, n); }, factors);
    prefetch_row(u + plane.row + 2 * plane.plane, c, count);
    add_terms<2>(
        {u, here, plane.before + at, plane.after + at, forcing, result, c, count}, plane.plane,
        [&z](int n, Index) { return of_neighbor(z, n); }, factors);
    for (int m = 0; m < 5; ++m) std::copy_n(ghosts[m], ghost_layers, result + m * c + plane.count);
  }
}

// Number of rows processed together, through all planes. Their five planes of U and three planes of derived
// values must fit into a second-level cache.
int tile_of(const Subgrid& subgrid, Index row) {
  constexpr Index bytes = 512 << 10;
  const auto rows = static_cast<int>(bytes / (8 * row * static_cast<Index>(sizeof(double))));
  return std::min(std::max(rows - 2 * ghost_layers, 8), subgrid.size[1]);
}

}  // namespace

Five fourth_difference(int i, int points) {
  Five weights{1, -4, 6, -4, 1};
  // Points on the boundary and beyond it are excluded.
  for (int n = -2; n <= 2; ++n)
    if (i + n <= 0 || i + n >= points - 1) of_neighbor(weights, n) = 0;
  if (i == 1 || i == points - 2) weights[2] = 5;
  return weights;
}

Residual::Residual(Arena& arena, const Subgrid& subgrid, double factor)
    : subgrid_(subgrid),
      factor_(factor),
      row_(5 * row_length(subgrid.size[0])),
      tile_(tile_of(subgrid, row_)),
      plane_(row_ * (tile_ + 2)),
      planes_(arena, static_cast<std::size_t>(3 * plane_) * sizeof(double), "hot"),
      zero_row_(static_cast<std::size_t>(row_), 0.0) {
  const double per_square = 1 / (subgrid.spacing() * subgrid.spacing());
  for (std::size_t d = 0; d < 3; ++d)
    for (int i = 0; i < subgrid.size[d]; ++i) {
      Five weights = fourth_difference(subgrid.origin[d] + i, subgrid.points);
      const double second[] = {0, 1, -2, 1, 0};
      for (std::size_t n = 0; n < 5; ++n)
        weights[n] = factor * (viscosity[d] * per_square * second[n] - dissipation * weights[n]);
      stencils_[d].push_back(weights);
    }
  for (std::size_t n = 0; n < 5; ++n) {
    for (const Five& weights : stencils_[0]) rows_x_.push_back(weights[n]);
    rows_x_.resize((n + 1) * static_cast<std::size_t>(whole_lines(subgrid.size[0])));
  }
}

void Residual::apply(const Field& u, const Field* forcing, Field& result) {
  const double spacing = subgrid_.spacing();
  const Coefficients factors{-factor_ / (2 * spacing), factor_ * c3 * c4 / (spacing * spacing)};
  auto* const memory = reinterpret_cast<double*>(planes_.next()) + row_ + row_origin;
  const auto velocities = [&](int k) { return memory + (k + 1) % 3 * plane_; };
  const auto& size = subgrid_.size;
  for (int begin = 0; begin < size[1]; begin += tile_) {
    const int rows = std::min(tile_, size[1] - begin);
    const auto set = [&](int k) {
      set_velocities_of_plane(u.row(0, begin, k), velocities(k), u.component, row_, size[0], rows);
    };
    set(-1);
    set(0);
    for (int k = 0; k < size[2]; ++k) {
      set(k + 1);
      const Plane plane{u.row(0, begin, k),
                        forcing ? forcing->row(0, begin, k) : zero_row_.data(),
                        forcing ? row_ : 0,
                        result.row(0, begin, k),
                        velocities(k - 1),
                        velocities(k),
                        velocities(k + 1),
                        u.component,
                        row_,
                        u.step[2],
                        size[0],
                        rows,
                        rows_x_.data(),
                        &stencils_[1][static_cast<std::size_t>(begin)],
                        &stencils_[2][static_cast<std::size_t>(k)]};
      set_residual_of_plane(plane, factors);
    }
  }
}

}  // namespace hockney::npb::flow
