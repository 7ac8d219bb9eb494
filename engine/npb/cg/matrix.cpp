// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/matrix.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "npb/frame/instruction_sets.hpp"

namespace hockney::npb {
namespace {

// Elements in a strip: 32 KiB of the vector, more if a row would have fewer than 32 elements in a strip, and
// at most as many as 16 bits can number.
constexpr std::size_t cg_strip_in_cache = 4096;
constexpr std::size_t cg_fewest_elements = 32;
constexpr std::size_t cg_widest_strip = std::size_t{1} << 16;

std::size_t cg_strips_of(std::size_t columns, std::size_t elements_of_row) {
  const std::size_t in_cache = (columns + cg_strip_in_cache - 1) / cg_strip_in_cache;
  const std::size_t long_enough = elements_of_row / cg_fewest_elements;
  const std::size_t strip_count = (columns + cg_widest_strip - 1) / cg_widest_strip;
  return std::max({std::size_t{1}, strip_count, std::min(in_cache, long_enough)});
}

}  // namespace

CgMatrix::CgMatrix(const OuterProducts& source, std::span<const Range> rows, std::span<const Range> columns,
                   int ranks_on_host) {
  OuterProducts::Rows parts(source, rows, columns);
  std::size_t width = 0;
  for (const Range& range : rows) rows_ += range.size();
  for (const Range& range : columns) width += range.size();
  const std::size_t order = std::max(source.order(), std::size_t{1});
  const std::size_t strips = cg_strips_of(width, source.elements_per_row() * width / order);
  const auto strip_of = [&](std::uint32_t column) { return ((column + 1) * strips - 1) / width; };

  // Number of quads of each row in each strip, and number of rows for each number of quads.
  std::vector<std::size_t> quads(strips * rows_);
  for (std::size_t row = 0; row < rows_; ++row)
    for (const std::uint32_t column : parts.columns(row)) ++quads[strip_of(column) * rows_ + row];
  struct Place {
    std::size_t row = 0;      // index in row_numbers_
    std::size_t element = 0;  // index in elements_
  };
  std::vector<std::map<std::size_t, Place>> next(strips);
  Place end;
  for (std::size_t strip = 0; strip < strips; ++strip) {
    std::map<std::size_t, std::size_t> rows_with;
    for (std::size_t row = 0; row < rows_; ++row) {
      std::size_t& count = quads[strip * rows_ + row];
      count = (count + quad - 1) / quad;
      if (count) ++rows_with[count];
    }
    for (const auto& [count, number] : rows_with) {
      runs_.push_back({part_of(width, strips, strip).begin, count, number});
      next[strip][count] = end;
      end.row += number;
      end.element += number * count * quad;
    }
  }

  row_numbers_.resize(end.row);
  require_memory(end.element * (sizeof(double) + sizeof(std::uint16_t)), ranks_on_host);
  elements_ = Array<double>(end.element);
  columns_ = Array<std::uint16_t>(end.element);
  double* const values = elements_.data();
  std::uint16_t* const numbers = columns_.data();
  std::fill_n(values, end.element, 0.0);
  std::fill_n(numbers, end.element, std::uint16_t{0});
  for (std::size_t row = 0; row < rows_; ++row) {
    const std::span<const std::uint32_t> touched_columns = parts.columns(row);
    for (std::size_t i = 0; i < touched_columns.size();) {
      const std::size_t strip = strip_of(touched_columns[i]);
      const std::size_t first = part_of(width, strips, strip).begin;
      const std::size_t count = quads[strip * rows_ + row];
      Place& place = next[strip][count];
      row_numbers_[place.row++] = static_cast<std::uint32_t>(row);
      std::size_t at = place.element;
      place.element += count * quad;
      for (; i < touched_columns.size() && strip_of(touched_columns[i]) == strip; ++i, ++at) {
        values[at] = parts.element(touched_columns[i]);
        numbers[at] = static_cast<std::uint16_t>(touched_columns[i] - first);
      }
    }
  }
}

HOCKNEY_VECTORISED void CgMatrix::multiply(const double* x, double* y) const {
  // Loading single elements into a vector is faster than a gather instruction and than scalar products.
  using Vector [[gnu::vector_size(quad * sizeof(double)), gnu::aligned(sizeof(double))]] = double;
  std::fill_n(y, rows_, 0.0);
  const double* element = elements_.data();
  const std::uint16_t* column = columns_.data();
  const std::uint32_t* row = row_numbers_.data();
  for (const Run& run : runs_) {
    const double* const strip = x + run.column;
    for (std::size_t i = 0; i < run.rows; ++i) {
      Vector sums = {};
      for (std::size_t k = 0; k < run.quads; ++k, element += quad, column += quad) {
        const Vector factors = {strip[column[0]], strip[column[1]], strip[column[2]], strip[column[3]]};
        Vector elements;
        std::memcpy(&elements, element, sizeof elements);
        sums += elements * factors;
      }
      y[*row++] += (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
  }
}

}  // namespace hockney::npb
