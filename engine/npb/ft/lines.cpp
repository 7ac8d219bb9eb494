// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/lines.hpp"

#include <algorithm>

#include "npb/frame/instruction_sets.hpp"

namespace hockney::npb {
namespace {

constexpr std::size_t ft_lines = Transform::lines;

}  // namespace

HOCKNEY_VECTORISED void load_columns(Rows rows, std::size_t length, std::size_t first, const Split& to) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double* real_parts = rows[k] + first;
    const double* imaginary = real_parts + length;
#pragma omp simd
    for (std::size_t line = 0; line < ft_lines; ++line) {
      to.real[k * ft_lines + line] = real_parts[line];
      to.imaginary[k * ft_lines + line] = imaginary[line];
    }
  }
}

HOCKNEY_VECTORISED void store_columns(const Split& from, Rows rows, std::size_t length, std::size_t first) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    double* real_parts = rows[k] + first;
    double* imaginary = real_parts + length;
#pragma omp simd
    for (std::size_t line = 0; line < ft_lines; ++line) {
      real_parts[line] = from.real[k * ft_lines + line];
      imaginary[line] = from.imaginary[k * ft_lines + line];
    }
  }
}

HOCKNEY_VECTORISED void load_scaled_columns(Rows rows, std::size_t length, std::size_t first,
                                            const double* columns, const double* row, const Split& to) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    double* real_parts = rows[k] + first;
    double* imaginary = real_parts + length;
    const double factor = row[k];
#pragma omp simd
    for (std::size_t line = 0; line < ft_lines; ++line) {
      const double each = columns[first + line] * factor;
      to.real[k * ft_lines + line] = real_parts[line] *= each;
      to.imaginary[k * ft_lines + line] = imaginary[line] *= each;
    }
  }
}

HOCKNEY_VECTORISED void load_rows(Rows rows, std::size_t length, const Split& to) {
  for (std::size_t k = 0; k < length; ++k)
    for (std::size_t line = 0; line < ft_lines; ++line) {
      to.real[k * ft_lines + line] = rows[line][k];
      to.imaginary[k * ft_lines + line] = rows[line][length + k];
    }
}

HOCKNEY_VECTORISED void store_rows(const Split& from, Rows rows, std::size_t length) {
  for (std::size_t k = 0; k < length; ++k)
    for (std::size_t line = 0; line < ft_lines; ++line) {
      rows[line][k] = from.real[k * ft_lines + line];
      rows[line][length + k] = from.imaginary[k * ft_lines + line];
    }
}

void store_in_transform_order(const Split& from, Rows rows, std::size_t length) {
  // The real parts fill the first half of the rows.
  for (std::size_t line = 0; line < ft_lines; ++line) {
    const double* half = line < ft_lines / 2 ? from.real : from.imaginary;
    std::copy_n(half + line % (ft_lines / 2) * 2 * length, 2 * length, rows[line]);
  }
}

}  // namespace hockney::npb
