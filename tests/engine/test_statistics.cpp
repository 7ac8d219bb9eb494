// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "base/statistics.hpp"

namespace {

struct Golden {
  std::vector<double> times;
  double median;
  bool has_interval;
  double low = 0;
  double high = 0;
};

// The file has one object a line; the fields come in the order times_s, median, low, high.
std::vector<Golden> golden() {
  std::ifstream file(HOCKNEY_GOLDEN "/median_interval.json");
  std::vector<Golden> all;
  for (std::string line; std::getline(file, line);) {
    const std::size_t open = line.find('[', line.find("times_s"));
    if (line.find("times_s") == std::string::npos) continue;
    const std::size_t close = line.find(']', open);
    Golden one;
    std::stringstream list(line.substr(open + 1, close - open - 1));
    for (std::string number; std::getline(list, number, ',');)
      one.times.push_back(std::strtod(number.c_str(), nullptr));
    const auto value = [&](const char* name) {
      return line.substr(line.find(':', line.find(name, close)) + 1);
    };
    one.median = std::strtod(value("\"median\"").c_str(), nullptr);
    one.has_interval = value("\"low\"").find("null") > 5;
    if (one.has_interval) {
      one.low = std::strtod(value("\"low\"").c_str(), nullptr);
      one.high = std::strtod(value("\"high\"").c_str(), nullptr);
    }
    all.push_back(one);
  }
  return all;
}

TEST(MedianInterval, GivesTheSameBitsAsTheFrontEnd) {
  const std::vector<Golden> cases = golden();
  ASSERT_GE(cases.size(), 20u);
  int with_interval = 0;
  for (const Golden& one : cases) {
    const hockney::MedianInterval found = hockney::median_interval(one.times);
    EXPECT_EQ(found.median, one.median) << one.times.size();
    ASSERT_EQ(found.interval.has_value(), one.has_interval) << one.times.size();
    if (!one.has_interval) continue;
    ++with_interval;
    EXPECT_EQ(found.interval->low, one.low) << one.times.size();
    EXPECT_EQ(found.interval->high, one.high) << one.times.size();
  }
  EXPECT_GT(with_interval, 10);
}

TEST(MedianInterval, RelativeIsHalfTheWidthOverTheMedian) {
  std::vector<double> times(101);
  std::iota(times.begin(), times.end(), 100.0);
  const hockney::MedianInterval found = hockney::median_interval(times);
  ASSERT_TRUE(found.interval);
  EXPECT_DOUBLE_EQ(*found.relative(), (found.interval->high - found.interval->low) / 2 / 150.0);
}

TEST(MedianInterval, OfTimesThatStandStillHasNoRelativeWidth) {
  EXPECT_FALSE(hockney::median_interval(std::vector<double>(50, 0.0)).relative());
}

TEST(MedianInterval, OfASlowDriftIsWiderThanOfTheSameTimesShuffled) {
  std::vector<double> drifting(400);
  std::iota(drifting.begin(), drifting.end(), 1.0);
  std::vector<double> mixed;
  for (int i = 0; i < 400; ++i) mixed.push_back(drifting[static_cast<std::size_t>(i * 163 % 400)]);
  const auto slow = hockney::median_interval(drifting).relative();
  const auto quick = hockney::median_interval(mixed).relative();
  ASSERT_TRUE(quick);
  ASSERT_TRUE(slow);
  EXPECT_GT(*slow, 3 * *quick);
}

}  // namespace
