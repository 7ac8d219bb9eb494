// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "comm/global_clock.hpp"

namespace {

using namespace hockney;

TEST(ClockRounds, GrowWithTheLogarithmOfTheRanks) {
  EXPECT_EQ(clock_rounds(1), 0);
  EXPECT_EQ(clock_rounds(2), 1);
  for (int ranks = 2; ranks <= 5000; ++ranks)
    EXPECT_EQ(clock_rounds(ranks), static_cast<int>(std::ceil(std::log2(ranks) - 1e-9))) << ranks;
}

// In a round every rank has at most one partner, and a rank that asks is answered by a rank that was
// synchronised before.
TEST(ClockRounds, TeachEveryRankOnce) {
  for (int ranks = 1; ranks <= 130; ++ranks) {
    std::vector<bool> taught(static_cast<std::size_t>(ranks), false);
    taught[0] = true;
    for (int round = 0; round < clock_rounds(ranks); ++round) {
      const std::vector<bool> before = taught;
      for (int rank = 0; rank < ranks; ++rank) {
        const ClockStep step = clock_step(rank, ranks, round);
        if (step.role == ClockStep::idle) continue;
        ASSERT_GE(step.partner, 0);
        ASSERT_LT(step.partner, ranks);
        const ClockStep other = clock_step(step.partner, ranks, round);
        EXPECT_EQ(other.partner, rank);
        EXPECT_EQ(other.role, step.role == ClockStep::client ? ClockStep::server : ClockStep::client);
        if (step.role == ClockStep::server) {
          EXPECT_TRUE(before[static_cast<std::size_t>(rank)]);
          continue;
        }
        EXPECT_FALSE(before[static_cast<std::size_t>(rank)]);
        taught[static_cast<std::size_t>(rank)] = true;
      }
    }
    for (const bool known : taught) EXPECT_TRUE(known) << ranks;
  }
}

}  // namespace
