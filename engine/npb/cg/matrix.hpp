// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parts.hpp"
#include "npb/cg/outer_products.hpp"
#include "npb/frame/array.hpp"

namespace hockney::npb {

// The elements of CG's matrix in some rows and columns.
//
// Columns are taken in strips whose part of the vector stays in the L1 cache, so 16 bits are enough for a
// column number. In each strip the rows with equally many elements follow each other, so that the loop over a
// row's elements has a predictable end. Rows are filled up with zeros to a multiple of `quad` elements.
class CgMatrix {
 public:
  CgMatrix() = default;
  // Numbers are global: vectors have these elements, one range after another. `ranks_on_host` as for
  // require_memory().
  CgMatrix(const OuterProducts& source, std::span<const Range> rows, std::span<const Range> columns,
           int ranks_on_host);

  // Computes y = A x for vectors with this part's columns and rows.
  void multiply(const double* x, double* y) const;

 private:
  static constexpr std::size_t quad = 4;

  // Rows of a strip with `quads` quads of elements each.
  struct Run {
    std::size_t column;  // first column of the strip
    std::size_t quads;
    std::size_t rows;
  };

  std::size_t rows_ = 0;
  std::vector<Run> runs_;
  std::vector<std::uint32_t> row_numbers_;  // of all rows of all runs, one after another, as their elements:
  Array<double> elements_;
  Array<std::uint16_t> columns_;  // relative to the strip's first column
};

}  // namespace hockney::npb
