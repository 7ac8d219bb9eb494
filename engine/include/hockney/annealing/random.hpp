// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Philox4x32-10, a random number generator based on a counter: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E.
// Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011. Every block of four numbers is a function of a
// key and of a counter, so the numbers of a walker at a step do not depend on who computes them, or on what
// was drawn before.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace hockney::annealing {

/** The ten rounds of Philox4x32: four random numbers for a `counter` and a `key`. */
[[nodiscard]] constexpr std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                                std::array<std::uint32_t, 2> key) {
  constexpr int rounds = 10;
  // Multipliers, and the increments of the key (Weyl sequences): table 2 and section 4.1 of the paper.
  constexpr std::uint64_t multiplier_0 = 0xD2511F53;
  constexpr std::uint64_t multiplier_1 = 0xCD9E8D57;
  constexpr std::uint32_t golden_ratio = 0x9E3779B9;
  constexpr std::uint32_t root_of_three = 0xBB67AE85;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t product_0 = multiplier_0 * counter[0];
    const std::uint64_t product_1 = multiplier_1 * counter[2];
    counter = {static_cast<std::uint32_t>(product_1 >> 32U) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product_1),
               static_cast<std::uint32_t>(product_0 >> 32U) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product_0)};
    key[0] += golden_ratio;
    key[1] += root_of_three;
  }
  return counter;
}

/** What random numbers are for: numbers of different streams are independent. Problems may use any other
   number below 65536 for their own purposes, as for generated instances. */
enum Stream : std::uint32_t {
  initial_stream = 0,  ///< a walker's first state
  move_stream = 1,     ///< its moves, one step after another
  sample_stream = 2,   ///< the sample that decides the initial temperature
};

/** The random numbers of one walker. The key is the seed; the counter consists of the walker, the stream, the
   step (48 bits), and the block in the step, so a step may draw up to 2^34 numbers. Meets the requirements of
    std::uniform_random_bit_generator. */
class Random final {
 public:
  using result_type = std::uint32_t;

  explicit Random(std::uint64_t seed, std::uint32_t walker = 0, std::uint32_t stream = 0)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)},
        stream_{stream << 16U},
        walker_{walker} {
    seek(0);
  }

  /** Continues with the first number of `step` (less than 2^48). */
  void seek(std::uint64_t step) {
    counter_ = {0, static_cast<std::uint32_t>(step), stream_ | static_cast<std::uint32_t>(step >> 32U),
                walker_};
    used_ = 4;
  }

  /** The next 32 random bits. */
  std::uint32_t operator()() {
    if (used_ == 4) {
      block_ = philox4x32(counter_, key_);
      ++counter_[0];
      used_ = 0;
    }
    return block_[used_++];
  }

  /** A number from 0 to `n` - 1, by a multiplication and a shift of one draw: probabilities differ from 1/n
     by less than 2^-32, which no simulation here can notice. */
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>((*this)()) * n >> 32U);
  }

  /** One of 2^32 equally spaced numbers in the open interval (0, 1), by one draw. */
  double uniform() { return (static_cast<double>((*this)()) + 0.5) * 0x1p-32; }

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint32_t stream_;
  std::uint32_t walker_;
  std::array<std::uint32_t, 4> counter_{};
  std::array<std::uint32_t, 4> block_{};
  std::uint32_t used_ = 4;
};

}  // namespace hockney::annealing
