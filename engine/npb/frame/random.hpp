// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// The pseudorandom numbers of the NAS Parallel Benchmarks (Bailey et al. 1994, section 2.3): x_{k+1} = a x_k
// mod 2^46 with a = 5^13, r_k = 2^-46 x_k. The seed x_0 itself is not used. Products of 64 bits wrap, and
// 2^46 divides 2^64, so the arithmetic is exact.
namespace hockney::npb {

inline constexpr std::uint64_t multiplier = 1220703125;
inline constexpr std::uint64_t modulus_mask = (std::uint64_t{1} << 46) - 1;

// Returns multiplier^n mod 2^46.
constexpr std::uint64_t multiplier_power(std::uint64_t n) {
  std::uint64_t power = 1;
  for (std::uint64_t square = multiplier; n; n >>= 1, square = square * square & modulus_mask)
    if (n & 1) power = power * square & modulus_mask;
  return power;
}

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : x_(seed & modulus_mask) {}

  // Returns r_{k+1}, in (0, 1).
  constexpr double next() {
    x_ = x_ * multiplier & modulus_mask;
    return static_cast<double>(x_) * 0x1p-46;
  }
  // Skips the next n numbers.
  constexpr void skip(std::uint64_t n) { x_ = x_ * multiplier_power(n) & modulus_mask; }
  constexpr std::uint64_t state() const { return x_; }

 private:
  std::uint64_t x_;
};

// Generates the numbers first + 1, ..., first + count after the seed, many at a time.
void fill_random(double* numbers, std::size_t count, std::uint64_t seed, std::uint64_t first);

}  // namespace hockney::npb
