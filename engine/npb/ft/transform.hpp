// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "npb/frame/array.hpp"

namespace hockney::npb {

// Complex numbers as two arrays.
struct Split {
  double* real;
  double* imaginary;

  // The inverse transform of these numbers is the forward transform of the swapped ones.
  Split swapped() const { return {imaginary, real}; }
};

// Discrete Fourier transforms of a power of two, unnormalised: several lines together, so that each step is
// the same for all of them. Stockham's algorithm, which keeps the natural order.
class Transform {
 public:
  static constexpr std::size_t lines = 16;  // transformed together

  explicit Transform(std::size_t length);

  std::size_t length() const { return length_; }
  // Number k of line l is at k * lines + l.
  Split values() const { return values_; }
  // Transforms values(), whose pointers change.
  void forward_message();
  void inverse();

 private:
  void run(Split& from, Split& to) const;

  const std::size_t length_;
  std::vector<double> cosines_, sines_;  // arguments 2 pi k / length
  Array<double> memory_;
  Split values_{}, scratch_{};
};

}  // namespace hockney::npb
