// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "hockney/annealing/random.hpp"

using hockney::annealing::philox4x32;
using hockney::annealing::Random;

using Four = std::array<std::uint32_t, 4>;

// The known answers that the authors of the paper publish with their implementation (Random123, kat_vectors):
// all zeros, all ones, and digits of pi.
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox4x32({ones, ones, ones, ones}, {ones, ones}),
            (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, IsAStandardGenerator) {
  static_assert(std::uniform_random_bit_generator<Random>);
}

TEST(Random, SeeksWithoutAHistory) {
  Random one(7, 3, 1);
  std::vector<std::uint32_t> numbers;
  one.seek(5);
  for (int i = 0; i < 11; ++i) numbers.push_back(one());
  Random other(7, 3, 1);
  other.seek(123456789012);
  static_cast<void>(other());
  other.seek(5);
  for (const std::uint32_t number : numbers) EXPECT_EQ(other(), number);
}

TEST(Random, StepsWalkersStreamsAndSeedsDiffer) {
  std::set<std::uint32_t> first;
  int count = 0;
  for (const std::uint64_t seed : {0ULL, 1ULL, 1ULL << 32U})
    for (const std::uint32_t walker : {0U, 1U, 70000U})
      for (const std::uint32_t stream : {0U, 1U, 2U, 65535U})
        for (const std::uint64_t step : {0ULL, 1ULL, 1ULL << 32U, (1ULL << 48U) - 1}) {
          Random random(seed, walker, stream);
          random.seek(step);
          first.insert(random());
          ++count;
        }
  EXPECT_EQ(first.size(), count);  // a chance of 2e-6 for two equal among 144, and the numbers are fixed
}

TEST(Random, NumbersAreInTheirIntervals) {
  Random random(1);
  double sum = 0;
  std::vector<int> counts(10);
  constexpr int draws = 100000;
  for (int i = 0; i < draws; ++i) {
    const double u = random.uniform();
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    ++counts.at(random.below(10));
  }
  EXPECT_NEAR(sum / draws, 0.5, 0.005);                                  // 5 standard deviations
  for (const int count : counts) EXPECT_NEAR(count, draws / 10.0, 500);  // the same
}
