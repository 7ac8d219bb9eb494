// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "local/product.hpp"

#include <algorithm>
#include <utility>

#include "local/instruction_sets.hpp"

#ifdef HOCKNEY_CBLAS
#include HOCKNEY_CBLAS

// Thread settings of the BLAS libraries, of which one is linked: a rank computes with a single thread.
extern "C" {
[[gnu::weak]] void openblas_set_num_threads(int threads);
[[gnu::weak]] void bli_thread_set_num_threads(long threads);
[[gnu::weak]] void MKL_Set_Num_Threads(int threads);
}
#endif

namespace hockney::local {
namespace {

// Shortest paths are closed in squares of this size, which stay in the first-level cache, and within these in
// smaller ones.
constexpr std::size_t square = 64;
constexpr std::size_t min_square = 16;

const Products& fastest() {
#ifdef HOCKNEY_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return products_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return products_avx2;
#endif
  return products_any;
}

// The loops of Floyd and Warshall.
void close_square(Matrix<float> paths) {
  for (std::size_t k = 0; k < paths.rows; ++k) {
    const float* const second = paths.data + k * paths.stride;
    for (std::size_t i = 0; i < paths.rows; ++i) {
      float* const row = paths.data + i * paths.stride;
      const float first = row[k];
      for (std::size_t j = 0; j < paths.columns; ++j) row[j] = std::min(row[j], first + second[j]);
    }
  }
}

Matrix<const float> read(Matrix<float> from) {
  return {from.data, from.rows, from.columns, from.stride};
}

// Closes each square on the diagonal, then updates its row and column of blocks, then all other blocks.
void close_in_squares(Matrix<float> paths, std::size_t size) {
  const std::size_t n = paths.rows;
  for (std::size_t k = 0; k < n; k += size) {
    const std::size_t width = std::min(size, n - k);
    const std::size_t after = k + width;
    const Matrix<float> diagonal = paths.part(k, k, width, width);
    if (size == min_square)
      close_square(diagonal);
    else
      close_in_squares(diagonal, min_square);
    const Matrix<float> left = paths.part(k, 0, width, k);
    const Matrix<float> right = paths.part(k, after, width, n - after);
    min_plus(read(diagonal), read(left), left);
    min_plus(read(diagonal), read(right), right);
    for (const auto& [row, rows] : {std::pair{std::size_t{0}, k}, std::pair{after, n - after}}) {
      const Matrix<float> column = paths.part(row, k, rows, width);
      min_plus(read(column), read(diagonal), column);
      min_plus(read(column), read(left), paths.part(row, 0, rows, k));
      min_plus(read(column), read(right), paths.part(row, after, rows, n - after));
    }
  }
}

#ifdef HOCKNEY_CBLAS
void use_one_thread() {
  static const bool done = [] {
    if (openblas_set_num_threads) openblas_set_num_threads(1);
    if (bli_thread_set_num_threads) bli_thread_set_num_threads(1);
    if (MKL_Set_Num_Threads) MKL_Set_Num_Threads(1);
    return true;
  }();
  static_cast<void>(done);
}

int size(std::size_t value) {
  return static_cast<int>(value);
}
#endif

}  // namespace

const Products& products() {
  static const Products& found = fastest();
  return found;
}

#ifdef HOCKNEY_CBLAS

void multiply_add(Matrix<const double> left, Matrix<const double> right, Matrix<double> sums) {
  if (sums.rows == 0 || sums.columns == 0 || right.rows == 0) return;
  use_one_thread();
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size(sums.rows), size(sums.columns),
              size(right.rows), 1.0, left.data, size(left.stride), right.data, size(right.stride), 1.0,
              sums.data, size(sums.stride));
}

void multiply_add(Matrix<const float> left, Matrix<const float> right, Matrix<float> sums) {
  if (sums.rows == 0 || sums.columns == 0 || right.rows == 0) return;
  use_one_thread();
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size(sums.rows), size(sums.columns),
              size(right.rows), 1.0F, left.data, size(left.stride), right.data, size(right.stride), 1.0F,
              sums.data, size(sums.stride));
}

const char* multiplication() {
  return "cblas";
}

#else

void multiply_add(Matrix<const double> left, Matrix<const double> right, Matrix<double> sums) {
  products().multiply_doubles(sums.rows, sums.columns, right.rows, left.data, left.stride, right.data,
                              right.stride, sums.data, sums.stride);
}

void multiply_add(Matrix<const float> left, Matrix<const float> right, Matrix<float> sums) {
  products().multiply_floats(sums.rows, sums.columns, right.rows, left.data, left.stride, right.data,
                             right.stride, sums.data, sums.stride);
}

const char* multiplication() {
  return "built-in";
}

#endif

void min_plus(Matrix<const float> first, Matrix<const float> second, Matrix<float> paths) {
  products().min_plus(paths.rows, paths.columns, second.rows, first.data, first.stride, second.data,
                      second.stride, paths.data, paths.stride);
}

void close_paths(Matrix<float> paths) {
  close_in_squares(paths, square);
}

}  // namespace hockney::local
