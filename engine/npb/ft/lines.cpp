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
    const double* real = rows[k] + first;
    const double* imaginary = real + length;
#pragma omp simd
    for (std::size_t l = 0; l < ft_lines; ++l) {
      to.real[k * ft_lines + l] = real[l];
      to.imaginary[k * ft_lines + l] = imaginary[l];
    }
  }
}

HOCKNEY_VECTORISED void store_columns(const Split& from, Rows rows, std::size_t length, std::size_t first) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    double* real = rows[k] + first;
    double* imaginary = real + length;
#pragma omp simd
    for (std::size_t l = 0; l < ft_lines; ++l) {
      real[l] = from.real[k * ft_lines + l];
      imaginary[l] = from.imaginary[k * ft_lines + l];
    }
  }
}

HOCKNEY_VECTORISED void load_multiplied(Rows rows, std::size_t length, std::size_t first,
                                        const double* columns, const double* row, const Split& to) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    double* real = rows[k] + first;
    double* imaginary = real + length;
    const double factor = row[k];
#pragma omp simd
    for (std::size_t l = 0; l < ft_lines; ++l) {
      const double each = columns[first + l] * factor;
      to.real[k * ft_lines + l] = real[l] *= each;
      to.imaginary[k * ft_lines + l] = imaginary[l] *= each;
    }
  }
}

HOCKNEY_VECTORISED void load_rows(Rows rows, std::size_t length, const Split& to) {
  for (std::size_t k = 0; k < length; ++k)
    for (std::size_t l = 0; l < ft_lines; ++l) {
      to.real[k * ft_lines + l] = rows[l][k];
      to.imaginary[k * ft_lines + l] = rows[l][length + k];
    }
}

HOCKNEY_VECTORISED void store_rows(const Split& from, Rows rows, std::size_t length) {
  for (std::size_t k = 0; k < length; ++k)
    for (std::size_t l = 0; l < ft_lines; ++l) {
      rows[l][k] = from.real[k * ft_lines + l];
      rows[l][length + k] = from.imaginary[k * ft_lines + l];
    }
}

void store_as_they_are(const Split& from, Rows rows, std::size_t length) {
  // The real parts fill the first half of the rows.
  for (std::size_t l = 0; l < ft_lines; ++l) {
    const double* half = l < ft_lines / 2 ? from.real : from.imaginary;
    std::copy_n(half + l % (ft_lines / 2) * 2 * length, 2 * length, rows[l]);
  }
}

}  // namespace hockney::npb
