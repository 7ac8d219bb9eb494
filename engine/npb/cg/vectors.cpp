// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/vectors.hpp"

#include "npb/frame/instruction_sets.hpp"

namespace hockney::npb {
namespace {

// Number of interleaved partial sums, which the compiler can vectorise without reordering additions.
constexpr std::size_t cg_subsequences = 16;

// Returns the sum of term(i) for i < n.
template <class Term>
[[gnu::always_inline]] inline double cg_sum_of(std::size_t n, const Term& term) {
  double sums[cg_subsequences] = {};
  std::size_t i = 0;
  for (; i + cg_subsequences <= n; i += cg_subsequences)
    for (std::size_t lane = 0; lane < cg_subsequences; ++lane) sums[lane] += term(i + lane);
  for (; i < n; ++i) sums[i % cg_subsequences] += term(i);
  double sum = 0;
  for (const double each : sums) sum += each;
  return sum;
}

}  // namespace

HOCKNEY_VECTORISED double cg_dot(const double* x, const double* y, std::size_t n) {
  return cg_sum_of(n, [=](std::size_t i) __attribute__((always_inline)) { return x[i] * y[i]; });
}

HOCKNEY_VECTORISED void cg_advance(double alpha, const double* p, const double* q, double* z, double* r,
                                   std::size_t n) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    z[i] += alpha * p[i];
    r[i] -= alpha * q[i];
  }
}

HOCKNEY_VECTORISED void cg_direction(double beta, const double* r, double* p, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + beta * p[i];
}

HOCKNEY_VECTORISED void cg_scale(double factor, const double* z, double* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = factor * z[i];
}

HOCKNEY_VECTORISED double cg_distance(const double* x, const double* y, std::size_t n) {
  return cg_sum_of(n, [=](std::size_t i) __attribute__((always_inline)) {
    const double difference = x[i] - y[i];
    return difference * difference;
  });
}

HOCKNEY_VECTORISED void cg_add(const double* addend, double* sum, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) sum[i] += addend[i];
}

}  // namespace hockney::npb
