// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "nodes/tournament.hpp"

namespace {

using hockney::nodes::Tournament;

std::vector<std::vector<int>> partners(int size, long first, int rounds, std::uint64_t seed = 7) {
  std::vector<Tournament> ranks;
  for (int rank = 0; rank < size; ++rank) ranks.emplace_back(rank, size, seed);
  std::vector<std::vector<int>> table;
  for (int round = 0; round < rounds; ++round) {
    table.emplace_back();
    for (Tournament& rank : ranks) table.back().push_back(rank.partner(first + round));
  }
  return table;
}

TEST(Tournament, ContainsEveryPairOnceInDisjointRounds) {
  for (int size = 2; size <= 12; ++size) {
    const int rounds = Tournament(0, size, 7).rounds();
    EXPECT_EQ(rounds, size % 2 ? size : size - 1);
    for (long tournament = 0; tournament < 3; ++tournament) {
      std::set<std::pair<int, int>> met;
      int pauses = 0;
      for (const auto& round : partners(size, tournament * rounds, rounds))
        for (int rank = 0; rank < size; ++rank) {
          const int partner = round[static_cast<std::size_t>(rank)];
          ASSERT_TRUE(partner >= 0 && partner < size);
          EXPECT_EQ(round[static_cast<std::size_t>(partner)], rank) << "of " << size << " ranks";
          pauses += partner == rank;
          if (partner > rank) EXPECT_TRUE(met.insert({rank, partner}).second);
        }
      EXPECT_EQ(static_cast<int>(met.size()), size * (size - 1) / 2);
      EXPECT_EQ(pauses, size % 2 ? size : 0);
    }
  }
}

TEST(Tournament, OrderDependsOnTheTournamentAndTheSeed) {
  EXPECT_NE(partners(8, 0, 7), partners(8, 7, 7));
  EXPECT_NE(partners(8, 0, 7, 1), partners(8, 0, 7, 2));
  EXPECT_EQ(partners(8, 0, 7, 1), partners(8, 0, 7, 1));
}

TEST(Tournament, EveryPairOfARoundHasATurn) {
  for (int size = 2; size <= 9; ++size)
    for (long round = 0; round < 12; ++round) {
      std::set<int> lower;
      for (int rank = 0; rank < size; ++rank)
        if (rank < Tournament(rank, size, 7).partner(round)) lower.insert(rank);
      for (int rank = 0; rank < size; ++rank) {
        const std::vector<int> turns = Tournament(rank, size, 7).lower_ranks(round);
        EXPECT_EQ(turns, Tournament(0, size, 7).lower_ranks(round));
        EXPECT_EQ(std::set<int>(turns.begin(), turns.end()), lower);
        EXPECT_EQ(turns.size(), lower.size());
      }
    }
}

TEST(Tournament, OneRankHasNoPartner) {
  EXPECT_EQ(Tournament(0, 1, 0).partner(3), 0);
}

}  // namespace
