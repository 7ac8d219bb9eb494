// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// The product of matrices over a semiring, for one instruction set. Each file that includes this is compiled
// for its own instruction set, so nothing here is shared between them, and no standard function is called,
// since it would be shared.
namespace hockney::local {
namespace {

template <class T>
struct PlusTimes {
  using Value = T;
  static constexpr T zero = 0;
  template <class V>
  static void add_product(V& sum, const V& left, const V& right) {
    sum += left * right;
  }
};

struct MinPlus {
  using Value = float;
  static constexpr float zero = 1e30F;
  template <class V>
  static void add_product(V& shortest, const V& first, const V& second) {
    const V length = first + second;
    shortest = length < shortest ? length : shortest;
  }
};

// The registers of an instruction set: a vector has `Bytes` bytes; a tile of the result consists of `Rows`
// times `Vectors`.
template <std::size_t Bytes, std::size_t Rows, std::size_t Vectors>
struct Registers {
  static constexpr std::size_t bytes = Bytes;
  static constexpr std::size_t rows = Rows;
  static constexpr std::size_t vectors = Vectors;
};

template <class Ring, class Set>
class Product {
  using T = typename Ring::Value;
  typedef T Vector __attribute__((vector_size(Set::bytes)));

  static constexpr std::size_t lanes = Set::bytes / sizeof(T);
  static constexpr std::size_t tile_rows = Set::rows;
  static constexpr std::size_t tile_columns = Set::vectors * lanes;
  // Packed data stay in the second-level cache, and one strip of rows in the first.
  static constexpr std::size_t max_depth = 256;
  static constexpr std::size_t max_columns =
      (std::size_t{512} << 10) / (max_depth * sizeof(T)) / tile_columns * tile_columns;

 public:
  // Computes sums (rows x columns) += left (rows x depth) right (depth x columns), each with its stride.
  static void add(std::size_t rows, std::size_t columns, std::size_t depth, const T* left,
                  std::size_t left_stride, const T* right, std::size_t right_stride, T* sums,
                  std::size_t stride) {
    for (std::size_t k = 0; k < depth; k += max_depth)
      for (std::size_t j = 0; j < columns; j += max_columns)
        panel(rows, minimum(max_columns, columns - j), minimum(max_depth, depth - k), left + k, left_stride,
              right + k * right_stride + j, right_stride, sums + j, stride);
  }

 private:
  static std::size_t minimum(std::size_t first, std::size_t second) {
    return first < second ? first : second;
  }
  static void load(Vector& to, const T* from) { __builtin_memcpy(&to, from, sizeof to); }
  static void store(T* to, const Vector& from) { __builtin_memcpy(to, &from, sizeof from); }

  // The same, for `depth` and `columns` within their limits.
  static void panel(std::size_t rows, std::size_t columns, std::size_t depth, const T* left,
                    std::size_t left_stride, const T* right, std::size_t right_stride, T* sums,
                    std::size_t stride) {
    alignas(64) static T packed[max_depth * max_columns];
    alignas(64) T strip[max_depth * tile_rows];
    for (std::size_t j = 0; j < columns; j += tile_columns)
      pack_columns(packed + j * depth, depth, minimum(tile_columns, columns - j), right + j, right_stride);
    for (std::size_t i = 0; i < rows; i += tile_rows) {
      const std::size_t height = minimum(tile_rows, rows - i);
      pack_rows(strip, depth, height, left + i * left_stride, left_stride);
      for (std::size_t j = 0; j < columns; j += tile_columns) {
        const std::size_t width = minimum(tile_columns, columns - j);
        T* const to = sums + i * stride + j;
        if (height == tile_rows && width % lanes == 0)
          tile(width / lanes, depth, strip, packed + j * depth, to, stride);
        else
          edge(depth, strip, packed + j * depth, height, width, to, stride);
      }
    }
  }

  static void pack_columns(T* to, std::size_t depth, std::size_t width, const T* from, std::size_t stride) {
    for (std::size_t k = 0; k < depth; ++k, to += tile_columns, from += stride) {
      if (width == tile_columns) {
        __builtin_memcpy(to, from, tile_columns * sizeof(T));
        continue;
      }
      for (std::size_t j = 0; j < width; ++j) to[j] = from[j];
      for (std::size_t j = width; j < tile_columns; ++j) to[j] = Ring::zero;
    }
  }

  static void pack_rows(T* to, std::size_t depth, std::size_t height, const T* from, std::size_t stride) {
    for (std::size_t i = 0; i < height; ++i)
      for (std::size_t k = 0; k < depth; ++k) to[k * tile_rows + i] = from[i * stride + k];
    for (std::size_t i = height; i < tile_rows; ++i)
      for (std::size_t k = 0; k < depth; ++k) to[k * tile_rows + i] = Ring::zero;
  }

  // Computes a tile of all rows and of some vectors.
  static void tile(std::size_t vectors, std::size_t depth, const T* left, const T* right, T* sums,
                   std::size_t stride) {
    if (vectors == Set::vectors)
      tile_of<Set::vectors>(depth, left, right, sums, stride);
    else if (vectors == 1)
      tile_of<1>(depth, left, right, sums, stride);
    else
      tile_of<2>(depth, left, right, sums, stride);
  }
  // The tile stays in registers.
  template <std::size_t Vectors>
  static void tile_of(std::size_t depth, const T* left, const T* right, T* sums, std::size_t stride) {
    static_assert(Set::vectors <= 3);
    Vector held[tile_rows][Vectors];
    for (std::size_t i = 0; i < tile_rows; ++i)
      for (std::size_t j = 0; j < Vectors; ++j) load(held[i][j], sums + i * stride + j * lanes);
    for (std::size_t k = 0; k < depth; ++k, left += tile_rows, right += tile_columns) {
      Vector row[Vectors];
      for (std::size_t j = 0; j < Vectors; ++j) load(row[j], right + j * lanes);
      for (std::size_t i = 0; i < tile_rows; ++i) {
        const Vector factor = left[i] - Vector{};
        for (std::size_t j = 0; j < Vectors; ++j) Ring::add_product(held[i][j], factor, row[j]);
      }
    }
    for (std::size_t i = 0; i < tile_rows; ++i)
      for (std::size_t j = 0; j < Vectors; ++j) store(sums + i * stride + j * lanes, held[i][j]);
  }

  // Handles fewer rows, or a part of a vector.
  static void edge(std::size_t depth, const T* left, const T* right, std::size_t height, std::size_t width,
                   T* sums, std::size_t stride) {
    alignas(64) T buffer[tile_rows * tile_columns];
    for (T& each : buffer) each = Ring::zero;
    for (std::size_t i = 0; i < height; ++i)
      for (std::size_t j = 0; j < width; ++j) buffer[i * tile_columns + j] = sums[i * stride + j];
    tile((width + lanes - 1) / lanes, depth, left, right, buffer, tile_columns);
    for (std::size_t i = 0; i < height; ++i)
      for (std::size_t j = 0; j < width; ++j) sums[i * stride + j] = buffer[i * tile_columns + j];
  }
};

}  // namespace
}  // namespace hockney::local
