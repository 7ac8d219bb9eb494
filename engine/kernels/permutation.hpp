// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/random.hpp"

namespace hockney::kernels {

// A random permutation of 0 to size - 1, whose elements can be computed independently: a Feistel network on
// the next even power of two, repeated until the result is in range.
class Permutation {
 public:
  Permutation(std::uint64_t size, std::uint64_t seed) : size_(size) {
    while (half_bits_ < 32 && (std::uint64_t{1} << (2 * half_bits_)) < size) ++half_bits_;
    mask_ = (std::uint64_t{1} << half_bits_) - 1;
    for (std::uint64_t& key : keys_) key = seed = mix(seed);
  }

  std::uint64_t operator()(std::uint64_t position) const {
    do position = scrambled(position);
    while (position >= size_);
    return position;
  }

 private:
  static constexpr int rounds = 4;

  std::uint64_t scrambled(std::uint64_t position) const {
    std::uint64_t left = position >> half_bits_;
    std::uint64_t right = position & mask_;
    for (const std::uint64_t key : keys_) {
      const std::uint64_t product = (right ^ key) * 0x9E3779B97F4A7C15U;
      const std::uint64_t next = left ^ ((product >> 32) & mask_);
      left = right;
      right = next;
    }
    return left << half_bits_ | right;
  }

  std::uint64_t size_;
  int half_bits_ = 1;
  std::uint64_t mask_ = 0;
  std::uint64_t keys_[rounds] = {};
};

}  // namespace hockney::kernels
