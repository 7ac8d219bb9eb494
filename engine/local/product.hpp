// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// Matrix products of one process, for the kernels.
namespace hockney::local {

// A matrix in row-major order: element (i, j) is data[i * stride + j].
template <class T>
struct Matrix {
  T* data;
  std::size_t rows;
  std::size_t columns;
  std::size_t stride;

  // `rows` by `columns` elements, from (row, column).
  Matrix part(std::size_t row, std::size_t column, std::size_t part_rows, std::size_t part_columns) const {
    return {data + row * stride + column, part_rows, part_columns, stride};
  }
};

// Computes sums += left right, with the BLAS found by the build, or a blocked and vectorised product.
void multiply_add(Matrix<const double> left, Matrix<const double> right, Matrix<double> sums);
void multiply_add(Matrix<const float> left, Matrix<const float> right, Matrix<float> sums);

// The implementation in use: "cblas" or "built-in".
const char* multiplication();

// Length of a nonexistent path: longer than any other, and finite in sums.
inline constexpr float no_path = 1e30F;

// Computes paths(i, j) = min(paths(i, j), first(i, k) + second(k, j) for all k). `paths` may be the same
// memory as `first` or `second` if the other one is closed, as in shortest paths: each length is then the
// length of some path.
void min_plus(Matrix<const float> first, Matrix<const float> second, Matrix<float> paths);

// Computes shortest paths within a square matrix of lengths with zeros on its diagonal (Floyd and Warshall,
// blocked).
void close_paths(Matrix<float> paths);

}  // namespace hockney::local
