// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/invalid_case.hpp"
#include "measure/shares.hpp"

namespace {

using hockney::InvalidCase;
using hockney::shares;

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += (value - 1) * (value - 1);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

double least(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

double largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

TEST(Shares, AreTheProportionsGiven) {
  EXPECT_EQ(shares("equal", 1, 3), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(shares("3:1", 1, 2), (std::vector<double>{1.5, 0.5}));
  EXPECT_EQ(shares("0.5:2.5:3", 1, 3), (std::vector<double>{0.25, 1.25, 1.5}));
  EXPECT_EQ(shares("1e3:1e3", 1, 2), (std::vector<double>{1, 1}));
}

TEST(Shares, AreDrawnWithTheSpreadAskedFor) {
  for (const char* text : {"uniform:0.2", "normal:0.2", "exponential:0.2"}) {
    const auto drawn = shares(text, 7, 20000);
    EXPECT_NEAR(mean(drawn), 1, 1e-12) << text;
    EXPECT_NEAR(deviation(drawn), 0.2, 0.006) << text;
  }
  // The ends distinguish the three.
  const double end = std::sqrt(3.0) * 0.2;
  EXPECT_NEAR(largest(shares("uniform:0.2", 7, 20000)), 1 + end, 0.005);
  EXPECT_NEAR(least(shares("uniform:0.2", 7, 20000)), 1 - end, 0.005);
  EXPECT_NEAR(least(shares("exponential:0.2", 7, 20000)), 0.8, 0.005);
  EXPECT_GT(largest(shares("exponential:0.2", 7, 20000)), 2.2);
  EXPECT_LT(least(shares("normal:0.2", 7, 20000)), 0.4);
  EXPECT_GT(largest(shares("normal:0.2", 7, 20000)), 1.6);
}

TEST(Shares, AreNeverTooSmallAndMeanOne) {
  for (const char* text : {"uniform:1", "normal:1", "exponential:1"})
    for (std::uint64_t seed = 0; seed < 200; ++seed)
      for (const int ranks : {1, 2, 3, 9}) {
        const auto drawn = shares(text, seed, ranks);
        EXPECT_GE(least(drawn), hockney::min_share * (1 - 1e-12)) << text << " " << seed;
        EXPECT_NEAR(mean(drawn), 1, 1e-12) << text << " " << seed;
      }
}

TEST(Shares, AreTheSeedsAndTheRanks) {
  EXPECT_EQ(shares("normal:0.2", 5, 4), shares("normal:0.2", 5, 4));
  EXPECT_NE(shares("normal:0.2", 5, 4), shares("normal:0.2", 6, 4));
  const auto drawn = shares("uniform:0.2", 5, 4);
  EXPECT_NE(drawn[0], drawn[1]);
}

TEST(Shares, OfAnotherKindAreRefused) {
  for (const char* bad :
       {"3", "3:1:1", "3:0", "3:-1", "3:x", "3:", ":", "", "even", "equal:1", "uniform",
        "uniform:", "uniform:0", "normal:-1", "normal:2", "exponential:nan", "gamma:0.2", "1:1e400"})
    EXPECT_THROW(shares(bad, 1, 2), InvalidCase) << bad;
}

}  // namespace
