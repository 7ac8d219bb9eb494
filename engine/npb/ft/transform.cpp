// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/transform.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include "npb/frame/instruction_sets.hpp"

namespace hockney::npb {
namespace {

struct Twiddle {
  double cosine;
  double sine;
};

// The first of four outputs is not multiplied.
template <bool multiplied>
[[gnu::always_inline]] inline void radix_4(std::size_t run, const Split& from, std::size_t distance,
                                           const Split& to, const Twiddle& w1, const Twiddle& w2,
                                           const Twiddle& w3) {
  const double* a_re = from.real;
  const double* a_im = from.imaginary;
  const double *b_re = a_re + distance, *c_re = b_re + distance, *d_re = c_re + distance;
  const double *b_im = a_im + distance, *c_im = b_im + distance, *d_im = c_im + distance;
  double *y0_re = to.real, *y1_re = y0_re + run, *y2_re = y1_re + run, *y3_re = y2_re + run;
  double *y0_im = to.imaginary, *y1_im = y0_im + run, *y2_im = y1_im + run, *y3_im = y2_im + run;
  // Loops in blocks of a constant length, which the compiler can unroll.
  for (std::size_t block = 0; block < run; block += Transform::lines)
#pragma omp simd
    for (std::size_t q = block; q < block + Transform::lines; ++q) {
      const double sum_ac_re = a_re[q] + c_re[q], sum_ac_im = a_im[q] + c_im[q];
      const double difference_ac_re = a_re[q] - c_re[q], difference_ac_im = a_im[q] - c_im[q];
      const double sum_bd_re = b_re[q] + d_re[q], sum_bd_im = b_im[q] + d_im[q];
      const double difference_bd_re = b_re[q] - d_re[q], difference_bd_im = b_im[q] - d_im[q];
      const double u1_re = difference_ac_re + difference_bd_im, u1_im = difference_ac_im - difference_bd_re;
      const double u2_re = sum_ac_re - sum_bd_re, u2_im = sum_ac_im - sum_bd_im;
      const double u3_re = difference_ac_re - difference_bd_im, u3_im = difference_ac_im + difference_bd_re;
      y0_re[q] = sum_ac_re + sum_bd_re;
      y0_im[q] = sum_ac_im + sum_bd_im;
      y1_re[q] = multiplied ? u1_re * w1.cosine + u1_im * w1.sine : u1_re;
      y1_im[q] = multiplied ? u1_im * w1.cosine - u1_re * w1.sine : u1_im;
      y2_re[q] = multiplied ? u2_re * w2.cosine + u2_im * w2.sine : u2_re;
      y2_im[q] = multiplied ? u2_im * w2.cosine - u2_re * w2.sine : u2_im;
      y3_re[q] = multiplied ? u3_re * w3.cosine + u3_im * w3.sine : u3_re;
      y3_im[q] = multiplied ? u3_im * w3.cosine - u3_re * w3.sine : u3_im;
    }
}

[[gnu::always_inline]] inline void radix_2(std::size_t run, const Split& from, const Split& to) {
  for (const auto& part : {std::pair{from.real, to.real}, std::pair{from.imaginary, to.imaginary}}) {
    const auto x = part.first;  // Clang 13 knows no structured bindings in loops of OpenMP
    const auto y = part.second;
    for (std::size_t block = 0; block < run; block += Transform::lines)
#pragma omp simd
      for (std::size_t q = block; q < block + Transform::lines; ++q) {
        const double a = x[q], b = x[q + run];
        y[q] = a + b;
        y[q + run] = a - b;
      }
  }
}

// One transform step after another, for n = length, length / 4, ... numbers that are `run` apart.
HOCKNEY_VECTORISED void stockham(std::size_t length, std::size_t lines, const double* cosines,
                                 const double* sines, Split& from, Split& to) {
  std::size_t run = lines;
  for (std::size_t n = length; n > 1;) {
    if (n == 2) {
      radix_2(run, from, to);
      n = 1;
    } else {
      const std::size_t quarter = n / 4, distance = quarter * run, step = length / n;
      for (std::size_t p = 0; p < quarter; ++p) {
        const Split x{from.real + p * run, from.imaginary + p * run};
        const Split y{to.real + 4 * p * run, to.imaginary + 4 * p * run};
        const auto w = [&](std::size_t k) { return Twiddle{cosines[k * step], sines[k * step]}; };
        if (p == 0)
          radix_4<false>(run, x, distance, y, {}, {}, {});
        else
          radix_4<true>(run, x, distance, y, w(p), w(2 * p), w(3 * p));
      }
      n = quarter;
      run *= 4;
    }
    std::swap(from, to);
  }
}

}  // namespace

Transform::Transform(std::size_t length)
    : length_(length), cosines_(length), sines_(length), memory_(4 * length * lines) {
  for (std::size_t k = 0; k < length; ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length);
    cosines_[k] = std::cos(angle);
    sines_[k] = std::sin(angle);
  }
  const std::size_t each = length * lines;
  values_ = {memory_.data(), memory_.data() + each};
  scratch_ = {memory_.data() + 2 * each, memory_.data() + 3 * each};
}

void Transform::run(Split& from, Split& to) const {
  stockham(length_, lines, cosines_.data(), sines_.data(), from, to);
}

void Transform::forward_message() {
  run(values_, scratch_);
}

void Transform::inverse() {
  Split from = values_.swapped(), to = scratch_.swapped();
  run(from, to);
  values_ = from.swapped();
  scratch_ = to.swapped();
}

}  // namespace hockney::npb
