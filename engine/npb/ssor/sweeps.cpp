// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/ssor/sweeps.hpp"

#include "npb/flow/equations.hpp"
#include "npb/frame/instruction_sets.hpp"

namespace hockney::npb::ssor {
namespace {

using flow::c1;
using flow::c2;
using flow::Field;
using flow::Index;

constexpr double omega = 1.2;
// Coefficients of the viscous Jacobians for a tangential and the normal momentum, and for energy.
constexpr double tangential = flow::c3 * flow::c4;
constexpr double normal = 4.0 / 3 * tangential;
constexpr double thermal = flow::c1 * flow::c3 * flow::c4 * flow::c5;
// Sums of the coefficients over the three directions.
constexpr double momentum_sum = 2 * tangential + normal;
constexpr double thermal_sum = 3 * thermal;

enum class Way { lower, upper };

// U or v at a point, in the order of a direction: its normal momentum, then the two tangential ones. Neither
// this nor loops over components may use arrays, which would prevent vectorisation of the loops over points.
struct Vector {
  double density, n, s, t, energy;
};

template <int d>
[[gnu::always_inline]] inline Vector load(const double* at, Index c) {
  constexpr int n = 1 + d, s = 1 + (d + 1) % 3, t = 1 + (d + 2) % 3;
  return {at[0], at[n * c], at[s * c], at[t * c], at[4 * c]};
}

[[gnu::always_inline]] inline void store(const Vector& value, double* at, Index c) {
  at[0] = value.density;
  at[c] = value.n;
  at[2 * c] = value.s;
  at[3 * c] = value.t;
  at[4 * c] = value.energy;
}

// Converts from the order of direction d to that of x.
template <int d>
[[gnu::always_inline]] inline Vector in_order(const Vector& value) {
  if constexpr (d == 0) return value;
  if constexpr (d == 1) return {value.density, value.t, value.n, value.s, value.energy};
  return {value.density, value.s, value.t, value.n, value.energy};
}

[[gnu::always_inline]] inline Vector sum(const Vector& a, const Vector& b) {
  return {a.density + b.density, a.n + b.n, a.s + b.s, a.t + b.t, a.energy + b.energy};
}

// Returns v - omega change.
[[gnu::always_inline]] inline Vector relax(const Vector& v, const Vector& change) {
  return {v.density - omega * change.density, v.n - omega * change.n, v.s - omega * change.s,
          v.t - omega * change.t, v.energy - omega * change.energy};
}

// Velocity, kinetic energy and specific energy.
struct Flow {
  double inverse, n, s, t, kinetic, energy;
};

[[gnu::always_inline]] inline Flow make_flow(const Vector& u) {
  const double inverse = 1 / u.density;
  const double n = inverse * u.n, s = inverse * u.s, t = inverse * u.t;
  return {inverse, n, s, t, 0.5 * (n * n + s * s + t * t), inverse * u.energy};
}

// Returns the block of direction d at `flow` times v. The block is convection F' - diffusion (N + viscosity
// I), with the Jacobians F' of the flux and N of the viscous potential; the sign of convection is that of the
// sweep's direction.
template <int d>
[[gnu::always_inline]] inline Vector product(const Flow& flow, const Vector& v, double convection,
                                             double diffusion) {
  // Changes of momentum excluding the contribution of mass.
  const double dn = v.n - flow.n * v.density, ds = v.s - flow.s * v.density, dt = v.t - flow.t * v.density;
  const double pressure =
      c2 * (flow.kinetic * v.density - (flow.n * v.n + flow.s * v.s + flow.t * v.t) + v.energy);
  const double enthalpy = c1 * flow.energy - c2 * flow.kinetic;
  const double viscosity = diffusion * flow::viscosity[d];
  const double viscous = diffusion * flow.inverse;
  const double heat = (normal - thermal) * (flow.n * dn) +
                      (tangential - thermal) * (flow.s * ds + flow.t * dt) +
                      thermal * (v.energy - flow.energy * v.density);
  return in_order<d>(
      {convection * v.n - viscosity * v.density,
       convection * (flow.n * (v.n + dn) + pressure) - viscous * (normal * dn) - viscosity * v.n,
       convection * (flow.s * v.n + flow.n * ds) - viscous * (tangential * ds) - viscosity * v.s,
       convection * (flow.t * v.n + flow.n * dt) - viscous * (tangential * dt) - viscosity * v.t,
       convection * (enthalpy * dn + flow.n * (v.energy + pressure)) - viscous * heat -
           viscosity * v.energy});
}

// The matrix D at a point, in the form that forward substitution needs.
struct Diagonal {
  double first, momentum, energy;  // inverses of the diagonal
  double x, y, z;                  // row of a momentum, column of density, negative
  double ex, ey, ez, density;      // row of energy; density is negative
};

[[gnu::always_inline]] inline Diagonal make_diagonal(const Flow& flow, const Sweeps::Factors& factors) {
  const double viscous = 2 * factors.diffusion * flow.inverse;
  const double momentum = factors.diagonal + viscous * momentum_sum;
  const double energy = factors.diagonal + viscous * thermal_sum;
  const double inverse = 1 / (momentum * energy);
  const double column = viscous * momentum_sum, row = viscous * (momentum_sum - thermal_sum);
  return {1 / factors.diagonal, inverse * energy,
          inverse * momentum,   column * flow.n,
          column * flow.s,      column * flow.t,
          row * flow.n,         row * flow.s,
          row * flow.t,         2 * row * flow.kinetic + viscous * thermal_sum * flow.energy};
}

// Solves D s' = s.
[[gnu::always_inline]] inline Vector substitute(const Diagonal& d, const Vector& s) {
  const double density = s.density * d.first;
  const double x = (s.n + d.x * density) * d.momentum;
  const double y = (s.s + d.y * density) * d.momentum;
  const double z = (s.t + d.z * density) * d.momentum;
  return {density, x, y, z, (s.energy + d.density * density - (d.ex * x + d.ey * y + d.ez * z)) * d.energy};
}

// Elements of omega D^-1 X that are neither 0 nor the same for all points, as rows of numbers:
constexpr Index x0 = 0, y0 = 1, z0 = 2, e0 = 3;  // column of density
constexpr Index x1 = 4, y1 = 5, z1 = 6, e1 = 7;  // of x momentum
constexpr Index x2 = 8, y2 = 9, e2 = 10;         // of y momentum
constexpr Index x3 = 11, z3 = 12, e3 = 13;       // of z momentum
constexpr Index x4 = 14, e4 = 15;                // of energy
constexpr Index entries = 16;
constexpr Index row_count = entries + 5;

struct Row {
  const double* u;
  const double* u_y;  // of the rows at the lower or upper y and z
  const double* u_z;
  const double* v_y;
  const double* v_z;
  double* __restrict v;
  Index component;
  int count;
};

// Computes everything except the recurrence along x: vectors T and matrices M with v(x) = T(x) - M(x) v(x -+
// 1).
template <Way way>
[[gnu::always_inline]] inline void prepare(const Row& row, const Sweeps::Factors& factors,
                                           double* __restrict matrices, double* __restrict vectors,
                                           Index width) {
  constexpr Index behind = way == Way::lower ? -1 : 1;
  const Index c = row.component;
  const double convection = way == Way::lower ? -factors.convection : factors.convection;
  const double diffusion = factors.diffusion;
  const double* __restrict const v = row.v;
  const Index count = flow::whole_lines(row.count);
#pragma GCC ivdep
  for (Index i = 0; i < count; ++i) {
    const Diagonal d = make_diagonal(make_flow(load<0>(row.u + i, c)), factors);

    const Vector change =
        sum(product<1>(make_flow(load<1>(row.u_y + i, c)), load<1>(row.v_y + i, c), convection, diffusion),
            product<2>(make_flow(load<2>(row.u_z + i, c)), load<2>(row.v_z + i, c), convection, diffusion));
    const Vector before = load<0>(v + i, c);
    if constexpr (way == Way::lower)
      store(substitute(d, relax(before, change)), vectors + i, width);
    else
      store(relax(before, substitute(d, change)), vectors + i, width);

    // Columns of X, each solved with D.
    const Flow f = make_flow(load<0>(row.u + behind + i, c));
    const double a = omega * convection, b = omega * diffusion, viscosity = b * flow::viscosity[0];
    const double viscous = b * f.inverse;
    const double across_extent = viscous * tangential, along = viscous * normal;
    const double heat = viscous * thermal;
    const Vector density =
        substitute(d, {-viscosity, a * (c2 * f.kinetic - f.n * f.n) + along * f.n,
                       (across_extent - a * f.n) * f.s, (across_extent - a * f.n) * f.t,
                       a * (2 * c2 * f.kinetic - c1 * f.energy) * f.n + (along - heat) * (f.n * f.n) +
                           (across_extent - heat) * (f.s * f.s + f.t * f.t) + heat * f.energy});
    const Vector momentum =
        substitute(d, {a, a * (2 - c2) * f.n - along - viscosity, a * f.s, a * f.t,
                       a * (c1 * f.energy - c2 * (f.n * f.n + f.kinetic)) - (along - heat) * f.n});
    const double tangent = (a * f.n - across_extent - viscosity) * d.momentum;
    const double coupling = c2 * a * f.n + (across_extent - heat);
    const double to_y = -c2 * a * f.s * d.momentum, to_z = -c2 * a * f.t * d.momentum;
    const double to_energy = c2 * a * d.momentum;
    double* const to = matrices + i;
    to[x0 * width] = density.n;
    to[y0 * width] = density.s;
    to[z0 * width] = density.t;
    to[e0 * width] = density.energy;
    to[x1 * width] = momentum.n;
    to[y1 * width] = momentum.s;
    to[z1 * width] = momentum.t;
    to[e1 * width] = momentum.energy;
    to[x2 * width] = to_y;
    to[y2 * width] = tangent;
    to[e2 * width] = (-coupling * f.s - d.ex * to_y - d.ey * tangent) * d.energy;
    to[x3 * width] = to_z;
    to[z3 * width] = tangent;
    to[e3 * width] = (-coupling * f.t - d.ex * to_z - d.ez * tangent) * d.energy;
    to[x4 * width] = to_energy;
    to[e4 * width] = (c1 * a * f.n - heat - viscosity - d.ex * to_energy) * d.energy;
  }
}

// Computes the recurrence along x.
template <Way way>
[[gnu::always_inline]] inline void recur(const Row& row, const Sweeps::Factors& factors,
                                         const double* __restrict matrices, const double* __restrict vectors,
                                         Index width) {
  constexpr int step = way == Way::lower ? 1 : -1;
  const Index c = row.component;
  const double scale = omega / factors.diagonal;
  const double d1 = scale * (way == Way::lower ? -factors.convection : factors.convection);
  const double d0 = -scale * factors.diffusion * flow::viscosity[0];
  const int first = way == Way::lower ? 0 : row.count - 1;
  double* __restrict const v = row.v;
  double p0 = v[first - step], p1 = v[c + first - step], p2 = v[2 * c + first - step];
  double p3 = v[3 * c + first - step], p4 = v[4 * c + first - step];
  for (int n = 0, i = first; n < row.count; ++n, i += step) {
    const auto entry = [&](Index number) { return matrices[number * width + i]; };
    const auto vector = [&](int m) { return vectors[m * width + i]; };
    const double n0 = vector(0) - d0 * p0 - d1 * p1;
    const double n1 =
        (vector(1) - entry(x0) * p0 - entry(x1) * p1) - (entry(x2) * p2 + entry(x3) * p3 + entry(x4) * p4);
    const double n2 = vector(2) - entry(y0) * p0 - entry(y1) * p1 - entry(y2) * p2;
    const double n3 = vector(3) - entry(z0) * p0 - entry(z1) * p1 - entry(z3) * p3;
    const double n4 =
        (vector(4) - entry(e0) * p0 - entry(e1) * p1) - (entry(e2) * p2 + entry(e3) * p3 + entry(e4) * p4);
    v[i] = p0 = n0;
    v[c + i] = p1 = n1;
    v[2 * c + i] = p2 = n2;
    v[3 * c + i] = p3 = n3;
    v[4 * c + i] = p4 = n4;
  }
}

// Part of a field: its first own point, and the distances between components, rows and planes.
struct Chunk {
  const double* u;
  double* v;
  Index component, row, plane;
  flow::Triple size;
  int begin, end;
  double* rows;  // memory for the matrices and vectors of a row of points
};

template <Way way>
[[gnu::always_inline]] inline void sweep_row(const Chunk& chunk, const Sweeps::Factors& factors, int j,
                                             int k) {
  constexpr Index behind = way == Way::lower ? -1 : 1;
  const Index at = j * chunk.row + k * chunk.plane;
  const double* const u = chunk.u + at;
  double* const v = chunk.v + at;
  const Row row{u,
                u + behind * chunk.row,
                u + behind * chunk.plane,
                v + behind * chunk.row,
                v + behind * chunk.plane,
                v,
                chunk.component,
                chunk.size[0]};
  double* const vectors = chunk.rows + entries * chunk.component;
  // Rows of the next iteration that are not in a first-level cache.
  for (const double* const next : {row.u, row.u_z, row.v_z, static_cast<const double*>(row.v)})
    flow::prefetch_row(next - behind * chunk.row, chunk.component, row.count);
  prepare<way>(row, factors, chunk.rows, vectors, chunk.component);
  recur<way>(row, factors, chunk.rows, vectors, chunk.component);
}

[[gnu::always_inline]] inline void update(const Chunk& chunk, double* all_u, int j, int k) {
  constexpr double factor = 1 / (omega * (2 - omega));
  const Index at = j * chunk.row + k * chunk.plane;
  double* __restrict const u = all_u + at;
  const double* __restrict const v = chunk.v + at;
  for (int m = 0; m < 5; ++m)
    for (int i = 0; i < chunk.size[0]; ++i) u[m * chunk.component + i] += factor * v[m * chunk.component + i];
}

HOCKNEY_VECTORISED void sweep_up(const Chunk& chunk, const Sweeps::Factors& factors) {
  for (int k = chunk.begin; k < chunk.end; ++k)
    for (int j = 0; j < chunk.size[1]; ++j) sweep_row<Way::lower>(chunk, factors, j, k);
}

// A row of U is updated when the row below it, in z, has been processed and no longer needs it.
HOCKNEY_VECTORISED void sweep_down(const Chunk& chunk, double* u, const Sweeps::Factors& factors) {
  for (int k = chunk.end - 1; k >= chunk.begin; --k) {
    for (int j = chunk.size[1] - 1; j >= 0; --j) {
      sweep_row<Way::upper>(chunk, factors, j, k);
      if (k + 1 < chunk.size[2]) update(chunk, u, j, k + 1);
    }
    if (k == 0)
      for (int j = 0; j < chunk.size[1]; ++j) update(chunk, u, j, 0);
  }
}

Sweeps::Factors factors_of(const flow::Subgrid& subgrid, double time_step) {
  const double h = subgrid.spacing();
  const double diffusion = time_step / (h * h);
  return {time_step / (2 * h), diffusion,
          1 + 2 * diffusion * (flow::viscosity[0] + flow::viscosity[1] + flow::viscosity[2])};
}

Chunk chunk_of(const Field& u, Field& v, const flow::Triple& size, int begin, int end, std::byte* rows) {
  return {u.row(0, 0, 0),
          v.row(0, 0, 0),
          u.component,
          u.step[1],
          u.step[2],
          size,
          begin,
          end,
          reinterpret_cast<double*>(rows)};
}

}  // namespace

Sweeps::Sweeps(Arena& arena, const flow::Subgrid& subgrid, double time_step)
    : subgrid_(subgrid),
      factors_(factors_of(subgrid, time_step)),
      rows_(arena, static_cast<std::size_t>(row_count * flow::row_length(subgrid.size[0])) * sizeof(double),
            "hot") {}

void Sweeps::lower(const Field& u, Field& v, int begin, int end) {
  const Chunk chunk = chunk_of(u, v, subgrid_.size, begin, end, rows_.next());
  sweep_up(chunk, factors_);
}

void Sweeps::upper(Field& u, Field& v, int begin, int end) {
  const Chunk chunk = chunk_of(u, v, subgrid_.size, begin, end, rows_.next());
  sweep_down(chunk, u.row(0, 0, 0), factors_);
}

}  // namespace hockney::npb::ssor
