// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "comm/affinity.hpp"

namespace {

using namespace hockney;

Processors of(std::initializer_list<int> cpus) {
  Processors processors{};
  for (const int cpu : cpus)
    processors[static_cast<std::size_t>(cpu) / 8] |= static_cast<unsigned char>(1 << cpu % 8);
  return processors;
}

TEST(Affinity, AListHasRangesAlsoBeyond1024Processors) {
  EXPECT_EQ(to_list(of({})), "");
  EXPECT_EQ(to_list(of({0})), "0");
  EXPECT_EQ(to_list(of({0, 1, 2, 3, 8})), "0-3,8");
  EXPECT_EQ(to_list(of({1022, 1023, 1024, 1025, 4096})), "1022-1025,4096");
  EXPECT_EQ(to_list(of({max_processors - 2, max_processors - 1})), "16382-16383");
  EXPECT_EQ(count(of({1022, 1023, 1024, 1025, 4096})), 5);
}

TEST(Affinity, AListIsReadBack) {
  for (const Processors& some :
       {of({0}), of({0, 1, 2, 3, 8}), of({7, 8, 1023, 1024}), of({max_processors - 1})})
    EXPECT_EQ(parse_list(to_list(some)), some);
  for (const char* bad :
       {"", " ", "a", "1-", "-1", "3-1", "1,", ",1", "1;", "1 2", "1-2-3", "16384", "99999999999"})
    EXPECT_FALSE(parse_list(bad)) << bad;
  EXPECT_EQ(lowest_processor(of({})), -1);
  EXPECT_EQ(lowest_processor(of({1023, 4096})), 1023);
  EXPECT_TRUE(includes(of({1, 9}), of({9})));
  EXPECT_TRUE(includes(of({1}), of({})));
  EXPECT_FALSE(includes(of({1, 9}), of({8})));
}

// The kernel's own list, for any number of processors.
TEST(Affinity, IsWhatTheSystemSaysOfThisProcess) {
  std::ifstream status("/proc/self/status");
  const std::string key = "Cpus_allowed_list:\t";
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(key)) continue;
    ASSERT_TRUE(affinity());
    EXPECT_EQ(to_list(*affinity()), line.substr(key.size()));
    return;
  }
  GTEST_SKIP() << "no /proc/self/status here";
}

}  // namespace
