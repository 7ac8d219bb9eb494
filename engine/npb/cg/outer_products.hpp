// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parts.hpp"

namespace hockney::npb {

// The order of CG's matrix, the number of random elements of each sparse vector, and the number subtracted
// from the diagonal.
struct CgSize {
  std::size_t order;
  std::size_t nonzeros;
  double shift;
};

// CG's matrix as the sum of outer products that defines it (Bailey et al. 1994, section 3.4.3):
//
//   A = sum of s_i w_i w_i' over i, plus (rcond - shift) I,  s_i = rcond^(i/n)
//
// with random sparse vectors w_i, whose element i is 1/2. The random numbers are one sequence, of which each
// rejected position takes a part, so every rank generates all the vectors.
class OuterProducts {
 public:
  explicit OuterProducts(const CgSize& size);

  std::size_t order() const { return size_.order; }
  // An approximation, since some elements of the products coincide.
  std::size_t elements_per_row() const { return size_.nonzeros * (size_.nonzeros + 1); }

  // Rows of the matrix, restricted to some columns.
  class Rows {
   public:
    // Numbers are global; places are counted from 0 through all ranges.
    Rows(const OuterProducts& source, std::span<const Range> rows, std::span<const Range> columns);

    // The places of a row's nonzeros, in ascending order. Valid until the next call.
    std::span<const std::uint32_t> columns(std::size_t row);
    // An element of the row of the last columns().
    double element(std::uint32_t column) const { return sums_[column]; }

   private:
    static constexpr std::uint32_t no_place = ~std::uint32_t{0};
    struct Factor {
      std::uint32_t vector;
      double factor;  // s_i times its element in this row
    };

    const OuterProducts& source_;
    const std::vector<std::size_t> rows_;  // global numbers
    std::vector<std::uint32_t> place_;     // for each global column; `no_place` if it is not included
    std::vector<std::size_t> begin_;       // start of each row's factors
    std::vector<Factor> factors_;
    std::vector<double> sums_;
    std::vector<std::size_t> last_call_;  // the call of columns() in which each sum was last started
    std::size_t call_ = 0;
    std::vector<std::uint32_t> touched_columns_;
  };

 private:
  struct Element {
    std::uint32_t place;
    double value;
  };
  std::span<const Element> vector(std::size_t i) const {
    return std::span(elements_).subspan(begin_[i], begin_[i + 1] - begin_[i]);
  }

  CgSize size_;
  std::vector<Element> elements_;
  std::vector<std::size_t> begin_;
};

}  // namespace hockney::npb
