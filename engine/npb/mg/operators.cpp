// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/operators.hpp"

#include "npb/frame/instruction_sets.hpp"

namespace hockney::npb {
namespace {

constexpr MgWeights mg_laplacian{-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
constexpr MgWeights mg_restriction{1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16};

// Number of rows that are prefetched from arrays which do not stay in the cache: the processor's own
// prefetching restarts on each page. Saves a third of the time at 256 points per side.
constexpr std::ptrdiff_t rows_ahead = 2;

[[gnu::always_inline]] inline void fetch_row(const double* row, std::size_t n) {
  constexpr std::size_t cache_line = 64 / sizeof(double);
  for (std::size_t i = 0; i < n; i += cache_line) __builtin_prefetch(row + i);
}

// Space for a row and for its periodic continuation at both ends.
struct MgRow {
  static constexpr std::size_t before = 8;
  alignas(64) std::array<double, before + mg_longest_row + 8> points;
  double* data() { return points.data() + before; }
  void close(std::size_t n) {
    data()[-1] = data()[n - 1];
    data()[n] = data()[0];
  }
};

// Weighs the 9 rows around a point (j, k), of which `center` is the middle one, for a stencil: its value at
// point i is middle[i] + side[i - 1] + side[i + 1]. Both sums use the same sums of rows.
[[gnu::always_inline]] inline void weigh_rows(const double* center, std::ptrdiff_t row, std::ptrdiff_t plane,
                                              const MgWeights& weights, std::size_t n,
                                              double* __restrict middle, double* __restrict side) {
  const double* const south = center - row;
  const double* const north = center + row;
  const double* const lower_keys = center - plane;
  const double* const above = center + plane;
  const auto [w0, w1, w2, w3] = weights;
  for (std::size_t i = 0; i < n; ++i) {
    const double faces = (south[i] + north[i]) + (lower_keys[i] + above[i]);
    const double edges =
        ((lower_keys - row)[i] + (lower_keys + row)[i]) + ((above - row)[i] + (above + row)[i]);
    middle[i] = w0 * center[i] + w1 * faces + w2 * edges;
    side[i] = w1 * center[i] + w2 * faces + w3 * edges;
  }
}

// Calls use(offset, ahead, middle, side) for each row of the block: it begins at `offset` in an array, and
// the row to prefetch is at `lookahead`.
template <class Use>
[[gnu::always_inline]] inline void mg_for_rows(const MgBlock& block, const double* input,
                                               const MgWeights& weights, const Use& use) {
  const auto row = static_cast<std::ptrdiff_t>(block.stride());
  const auto plane = static_cast<std::ptrdiff_t>(block.plane());
  const std::ptrdiff_t lookahead = rows_ahead * row;
  MgRow middle, side;
  for (std::ptrdiff_t k = 0; k < block.planes(); ++k)
    for (std::ptrdiff_t j = 0; j < block.rows(); ++j) {
      const std::ptrdiff_t at = block.at(j, k);
      fetch_row(input + at + plane + lookahead, block.n);
      weigh_rows(input + at, row, plane, weights, block.n, middle.data(), side.data());
      side.close(block.n);
      use(at, at + lookahead, middle.data(), side.data());
    }
}

// Half of a point's number, rounded towards minus infinity.
constexpr std::ptrdiff_t half_of(std::ptrdiff_t number) {
  return (number - (number & 1)) / 2;
}

template <bool add>
[[gnu::always_inline]] inline void prolong_rows(const MgBlock& coarse, const double* w, const MgBlock& fine,
                                                double* u) {
  MgRow mean;
  const std::size_t n = coarse.n;
  // Index of the fine block's first row or plane, and of the coarse block's.
  const auto first = [](const Range& range) { return static_cast<std::ptrdiff_t>(range.begin); };
  for (std::ptrdiff_t k = -1; k <= fine.planes(); ++k)
    for (std::ptrdiff_t j = -1; j <= fine.rows(); ++j) {
      // Odd-numbered fine points are at the position of a coarse point; the others are between two.
      const std::ptrdiff_t y = first(fine.y) + j, z = first(fine.z) + k;
      const std::ptrdiff_t y1 = half_of(y) - first(coarse.y), y0 = half_of(y - 1) - first(coarse.y);
      const std::ptrdiff_t z1 = half_of(z) - first(coarse.z), z0 = half_of(z - 1) - first(coarse.z);
      const double* const a = w + coarse.at(y0, z0);
      const double* const b = w + coarse.at(y1, z0);
      const double* const c = w + coarse.at(y0, z1);
      const double* const d = w + coarse.at(y1, z1);
      double* const means = mean.data();
      for (std::size_t i = 0; i < n; ++i) means[i] = 0.25 * ((a[i] + b[i]) + (c[i] + d[i]));
      mean.close(n);
      double* const out = u + fine.at(j, k);
      fetch_row(out + rows_ahead * static_cast<std::ptrdiff_t>(fine.stride()), fine.n);
#pragma GCC ivdep
      for (std::size_t i = 0; i < n; ++i) {
        const double even = 0.5 * ((means - 1)[i] + means[i]);
        out[2 * i] = add ? out[2 * i] + even : even;
        out[2 * i + 1] = add ? out[2 * i + 1] + means[i] : means[i];
      }
    }
}

}  // namespace

HOCKNEY_VECTORISED void mg_residual(const MgBlock& block, const double* u, const double* v, double* r) {
  mg_for_rows(block, u, mg_laplacian,
              [&](std::ptrdiff_t at, std::ptrdiff_t lookahead, const double* middle, const double* side)
                  __attribute__((always_inline)) {
                    fetch_row(v + lookahead, block.n);
                    fetch_row(r + lookahead, block.n);
                    const double* const from = v + at;
                    double* const to = r + at;
#pragma GCC ivdep
                    for (std::size_t i = 0; i < block.n; ++i)
                      to[i] = from[i] - middle[i] - ((side - 1)[i] + (side + 1)[i]);
                  });
}

HOCKNEY_VECTORISED void mg_smooth(const MgBlock& block, const MgWeights& s, const double* r, double* u) {
  mg_for_rows(block, r, s,
              [&](std::ptrdiff_t at, std::ptrdiff_t lookahead, const double* middle, const double* side)
                  __attribute__((always_inline)) {
                    fetch_row(u + lookahead, block.n);
                    double* const to = u + at;
#pragma GCC ivdep
                    for (std::size_t i = 0; i < block.n; ++i)
                      to[i] += middle[i] + ((side - 1)[i] + (side + 1)[i]);
                  });
}

HOCKNEY_VECTORISED void mg_smooth_zero(const MgBlock& block, const MgWeights& s, const double* r, double* u) {
  mg_for_rows(block, r, s,
              [&](std::ptrdiff_t at, std::ptrdiff_t lookahead, const double* middle, const double* side)
                  __attribute__((always_inline)) {
                    fetch_row(u + lookahead, block.n);
                    double* const to = u + at;
#pragma GCC ivdep
                    for (std::size_t i = 0; i < block.n; ++i)
                      to[i] = middle[i] + ((side - 1)[i] + (side + 1)[i]);
                  });
}

HOCKNEY_VECTORISED void mg_restrict(const MgBlock& fine, const double* r, const MgBlock& coarse,
                                    double* result) {
  const auto row = static_cast<std::ptrdiff_t>(fine.stride());
  const auto plane = static_cast<std::ptrdiff_t>(fine.plane());
  MgRow middle, side;
  for (std::ptrdiff_t k = 0; k < coarse.planes(); ++k)
    for (std::ptrdiff_t j = 0; j < coarse.rows(); ++j) {
      const auto y = static_cast<std::ptrdiff_t>(2 * coarse.y.begin + 1 - fine.y.begin) + 2 * j;
      const auto z = static_cast<std::ptrdiff_t>(2 * coarse.z.begin + 1 - fine.z.begin) + 2 * k;
      const double* const center = r + fine.at(y, z);
      for (const double* const plane_of_row : {center, center + plane})
        for (const std::ptrdiff_t lookahead : {rows_ahead, rows_ahead + 1})
          fetch_row(plane_of_row + lookahead * row, fine.n);
      weigh_rows(center, row, plane, mg_restriction, fine.n, middle.data(), side.data());
      side.close(fine.n);
      const double* const at = middle.data() + 1;
      const double* const left_at = side.data();
      const double* const right = side.data() + 2;
      double* const to = result + coarse.at(j, k);
#pragma GCC ivdep
      for (std::size_t i = 0; i < coarse.n; ++i) to[i] = at[2 * i] + (left_at[2 * i] + right[2 * i]);
    }
}

HOCKNEY_VECTORISED void mg_prolong_add(const MgBlock& coarse, const double* w, const MgBlock& fine,
                                       double* u) {
  prolong_rows<true>(coarse, w, fine, u);
}

HOCKNEY_VECTORISED void mg_prolong(const MgBlock& coarse, const double* w, const MgBlock& fine, double* u) {
  prolong_rows<false>(coarse, w, fine, u);
}

HOCKNEY_VECTORISED double mg_square_sum(const MgBlock& block, const double* r) {
  // Number of interleaved partial sums, which the compiler can vectorise without reordering additions.
  constexpr std::size_t subsequences = 16;
  double sums[subsequences] = {};
  for (std::ptrdiff_t k = 0; k < block.planes(); ++k)
    for (std::ptrdiff_t j = 0; j < block.rows(); ++j) {
      const double* const row = r + block.at(j, k);
      std::size_t i = 0;
      for (; i + subsequences <= block.n; i += subsequences)
        for (std::size_t lane = 0; lane < subsequences; ++lane) sums[lane] += row[i + lane] * row[i + lane];
      for (; i < block.n; ++i) sums[i % subsequences] += row[i] * row[i];
    }
  double sum = 0;
  for (const double each : sums) sum += each;
  return sum;
}

}  // namespace hockney::npb
