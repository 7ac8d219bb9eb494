// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

// Several grid lines at once, one in each lane of a vector. Functions with vector parameters are inlined, so
// calling conventions for vectors do not matter.
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi"
#define HOCKNEY_INLINE inline __attribute__((always_inline))
#else
#error "the line solvers need the vector types of GCC and Clang"
#endif

namespace hockney::npb::adi {

// Number of lines solved together, whatever the processor's vector length: 8 doubles are one vector of
// AVX-512, and two or four vectors of other instruction sets.
inline constexpr std::size_t lines_together = 8;

template <std::size_t W>
struct LanesOf {
  typedef double type __attribute__((vector_size(W * sizeof(double))));
};
template <std::size_t W>
using Lanes = typename LanesOf<W>::type;

template <std::size_t W>
HOCKNEY_INLINE Lanes<W> load(const double* from) {
  Lanes<W> lanes;
  __builtin_memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
template <class V>
HOCKNEY_INLINE void store(double* to, const V& lanes) {
  __builtin_memcpy(to, &lanes, sizeof lanes);
}

// Calls body(0) to body(N - 1) with compile-time constants, so that small arrays stay in registers.
template <std::size_t N, class Body>
HOCKNEY_INLINE void each(const Body& body) {
  [&]<std::size_t... i>(std::index_sequence<i...>) __attribute__((always_inline)) {
    (body(std::integral_constant<std::size_t, i>()), ...);
  }(std::make_index_sequence<N>());
}

// ---- Transposition of W vectors of W lanes ----
// Selects lanes of `a` and `b`; lanes of `b` are numbered
// after those of `a`.
template <std::size_t... lane, class V>
HOCKNEY_INLINE V shuffled(const V& a, const V& b) {
#if defined(__clang__) || __GNUC__ >= 12
  return __builtin_shufflevector(a, b, lane...);
#else
  typedef long long Numbers __attribute__((vector_size(sizeof(V))));
  return __builtin_shuffle(a, b, Numbers{static_cast<long long>(lane)...});
#endif
}
template <bool upper, std::size_t step, class V, std::size_t... lane>
HOCKNEY_INLINE V exchange_half(const V& a, const V& b, std::index_sequence<lane...>) {
  constexpr std::size_t width = sizeof...(lane);
  if constexpr (upper)
    return shuffled<((lane & step) ? width + lane : lane + step)...>(a, b);
  else
    return shuffled<((lane & step) ? width + lane - step : lane)...>(a, b);
}
template <std::size_t step, std::size_t W, class V>
HOCKNEY_INLINE void transpose_step(V (&rows)[W]) {
  each<W>([&](auto row) __attribute__((always_inline)) {
    if constexpr ((row & step) == 0) {
      constexpr std::make_index_sequence<W> sequence;
      const V low = exchange_half<false, step>(rows[row], rows[row + step], sequence);
      rows[row + step] = exchange_half<true, step>(rows[row], rows[row + step], sequence);
      rows[row] = low;
    }
  });
}
template <std::size_t W, class V>
HOCKNEY_INLINE void transpose(V (&rows)[W]) {
  if constexpr (W > 1) transpose_step<1>(rows);
  if constexpr (W > 2) transpose_step<2>(rows);
  if constexpr (W > 4) transpose_step<4>(rows);
}

// ---- Instruction sets ----
// Calls body<W>() with vectors of W doubles, the longest of the processor. The
// body must be a lambda that is always inlined. Not used in a simulator, where computing takes a preset time.
#if defined(__x86_64__) && !defined(HOCKNEY_SMPI)
template <class Body>
__attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma"), noinline)) void with_8_lanes(const Body& body) {
  body.template operator()<8>();
}
template <class Body>
__attribute__((target("avx2,fma"), noinline)) void with_4_lanes(const Body& body) {
  body.template operator()<4>();
}
template <class Body>
void vectorised(const Body& body) {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    with_8_lanes(body);
  else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    with_4_lanes(body);
  else
    body.template operator()<2>();
}
#else
template <class Body>
void vectorised(const Body& body) {
  body.template operator()<2>();
}
#endif

}  // namespace hockney::npb::adi
