// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/invalid_case.hpp"
#include "measure/counts.hpp"

namespace {

using hockney::Counts;
using hockney::InvalidCase;
using hockney::Values;

Values values(std::uint64_t bytes, const std::string& counts) {
  return Values({{"bytes", std::to_string(bytes)}, {"counts", counts}});
}

std::vector<std::uint64_t> blocks(std::uint64_t bytes, const std::string& word, int ranks) {
  const Counts counts(values(bytes, word), ranks);
  std::vector<std::uint64_t> found;
  for (int rank = 0; rank < ranks; ++rank) found.push_back(counts.bytes(rank));
  return found;
}

TEST(Counts, TheTotalIsTheSameHoweverItIsShared) {
  for (const char* word : {"even", "skewed", "single"})
    for (const int ranks : {1, 2, 3, 4, 7, 64})
      for (const std::uint64_t bytes : {0, 1, 2, 5, 8, 1000, 12345}) {
        const std::vector<std::uint64_t> all = blocks(bytes, word, ranks);
        EXPECT_EQ(std::accumulate(all.begin(), all.end(), std::uint64_t{0}),
                  bytes * static_cast<std::uint64_t>(ranks))
            << word << " " << ranks << " " << bytes;
        EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
      }
}

TEST(Counts, ARampGoesFromNothingToTwiceTheMean) {
  EXPECT_EQ(blocks(100, "skewed", 5), (std::vector<std::uint64_t>{0, 50, 100, 150, 200}));
  EXPECT_EQ(blocks(1, "skewed", 4), (std::vector<std::uint64_t>{0, 0, 2, 2}));
  EXPECT_EQ(blocks(7, "single", 3), (std::vector<std::uint64_t>{0, 0, 21}));
  EXPECT_EQ(blocks(7, "skewed", 1), (std::vector<std::uint64_t>{7}));
}

TEST(Counts, BlocksFollowEachOther) {
  const Counts counts(values(1000, "skewed"), 7);
  for (int rank = 1; rank < 7; ++rank)
    EXPECT_EQ(counts.offset(rank), counts.offset(rank - 1) + counts.bytes(rank - 1));
  EXPECT_EQ(counts.total(), 7000U);
}

TEST(Counts, BytesThatNoUnitDividesAreRefused) {
  EXPECT_THROW(Counts(values(12, "even"), 2, 1, sizeof(double), MPI_DOUBLE), InvalidCase);
  EXPECT_THROW(Counts(values((std::uint64_t{2} << 30) + 1, "even"), 2), InvalidCase);
  EXPECT_THROW(Counts(values((std::uint64_t{1} << 30) + 1, "single"), 3, 3), InvalidCase);
}

}  // namespace
