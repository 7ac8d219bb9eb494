// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

#include "ensemble/balancer.hpp"
#include "ensemble/redistribution.hpp"

namespace {

using namespace hockney::annealing;
using Counts = std::vector<int>;

double slowest(const std::vector<double>& seconds, const Counts& counts) {
  double most = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) most = std::max(most, seconds[i] * counts[i]);
  return most;
}

TEST(Balance, EqualBlocks) {
  EXPECT_EQ(divide_evenly(10, 3), (Counts{4, 3, 3}));
  EXPECT_EQ(divide_evenly(3, 3), (Counts{1, 1, 1}));
}

TEST(Balance, CountsAreInverseToTimes) {
  EXPECT_EQ(balance_counts({1, 2}, 30), (Counts{20, 10}));
  EXPECT_EQ(balance_counts({1, 1, 1}, 7), (Counts{3, 2, 2}));
  EXPECT_EQ(balance_counts({1, 1000}, 10), (Counts{9, 1}));  // nobody is left without
}

// All divisions of a few walkers: none ends earlier.
TEST(Balance, NoOtherDivisionEndsEarlier) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0.1, 2);
  for (int repetition = 0; repetition < 100; ++repetition) {
    const std::vector<double> seconds{uniform(random), uniform(random), uniform(random)};
    const int walkers = 3 + static_cast<int>(random() % 12);
    const Counts counts = balance_counts(seconds, walkers);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), walkers);
    for (int a = 1; a <= walkers - 2; ++a)
      for (int b = 1; a + b <= walkers - 1; ++b)
        EXPECT_LE(slowest(seconds, counts), slowest(seconds, {a, b, walkers - a - b}) + 1e-12);
  }
}

TEST(Balance, OnlyWalkersMoveThatHaveTo) {
  const std::vector<int> before = owners_by_blocks({3, 3, 2});
  EXPECT_EQ(before, (std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2}));
  const std::vector<int> after = redistribute_owners(before, {1, 4, 3});
  EXPECT_EQ(after, (std::vector<int>{0, 1, 2, 1, 1, 1, 2, 2}));
  EXPECT_EQ(redistribute_owners(after, {1, 4, 3}), after);
}

// Ranks whose times for one walker are given, with a relative noise; how often walkers move.
class Ranks {
 public:
  explicit Ranks(std::vector<double> seconds)
      : seconds_(std::move(seconds)),
        counts_(divide_evenly(64, static_cast<int>(seconds_.size()))),
        balancer_(64, static_cast<int>(seconds_.size())) {}

  int moves(int rounds, double noise) {
    std::normal_distribution<double> normal(0, noise);
    int moved = 0, last = -1;
    for (int end = round_ + rounds; round_ < end; ++round_) {
      std::vector<Statistics> all(seconds_.size());
      for (std::size_t i = 0; i < all.size(); ++i)
        all[i].seconds = seconds_[i] * counts_[i] * std::max(0.1, 1 + normal(random_));
      balancer_.add(round_, all.data());
      if (balancer_.recommends_redistribution()) balancer_.set_pending(last = round_ + 2);
      if (round_ == last) {
        counts_ = balancer_.redistributed_counts();
        ++moved;
      }
    }
    return moved;
  }
  const Counts& counts() const { return counts_; }
  void become(std::vector<double> seconds) { seconds_ = std::move(seconds); }

 private:
  std::vector<double> seconds_;
  Counts counts_;
  Balancer balancer_;
  std::mt19937 random_{4};
  int round_ = 0;
};

TEST(Balance, NoiseMovesNobody) {
  EXPECT_EQ(Ranks({1, 1}).moves(1000, 0.05), 0);
  EXPECT_EQ(Ranks(std::vector<double>(16, 1)).moves(1000, 0.1), 0);
}

TEST(Balance, ASlowRankGivesWalkersAwayOnce) {
  Ranks ranks({2, 1});
  EXPECT_EQ(ranks.moves(10, 0), 1);
  EXPECT_EQ(ranks.counts(), (Counts{21, 43}));
  EXPECT_EQ(ranks.moves(300, 0.03), 0);
}

TEST(Balance, ItFollowsARankThatRecovers) {
  Ranks ranks({3, 1, 1});
  EXPECT_EQ(ranks.moves(10, 0), 1);
  ranks.become({1, 1, 1});
  EXPECT_EQ(ranks.moves(12, 0), 1);
  EXPECT_EQ(ranks.counts(), (Counts{22, 21, 21}));
}

TEST(Balance, OneDisturbanceMovesNobody) {
  Ranks ranks({1, 1});
  ranks.moves(4, 0);
  ranks.become({1, 50});
  EXPECT_EQ(ranks.moves(1, 0), 0);
  ranks.become({1, 1});
  EXPECT_EQ(ranks.moves(20, 0), 0);
}

}  // namespace
