// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "base/detours.hpp"

namespace {

using namespace hockney;

constexpr double quantum_s = 10e-6;
constexpr double clock_step_s = 20e-9;

// Quanta whose durations vary a little, as on a quiet core.
std::vector<double> quiet_quanta(std::size_t count, double each_s = quantum_s) {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < count; ++i) seconds.push_back(each_s + 1e-8 * static_cast<double>(i % 3));
  return seconds;
}

TEST(Detours, AQuietCoreHasNone) {
  const Observation observation = from_quanta(quiet_quanta(5000), clock_step_s);
  EXPECT_EQ(observation.detours.size(), 0u);
  EXPECT_EQ(observation.lost_s, 0);
  EXPECT_NEAR(observation.undisturbed_s, quantum_s + 1e-8, 1e-12);
  EXPECT_NEAR(observation.observed_s, 5000 * (quantum_s + 1e-8), 1e-6);
}

TEST(Detours, AreFoundWithStartAndLength) {
  std::vector<double> seconds = quiet_quanta(5000);
  seconds[1000] += 500e-6;
  seconds[2500] += 3e-6;
  seconds[4999] += 4e-3;
  const Observation observation = from_quanta(seconds, clock_step_s);
  ASSERT_EQ(observation.detours.size(), 3u);
  EXPECT_NEAR(observation.detours[0].start_s, 1000 * (quantum_s + 1e-8), 1e-6);
  EXPECT_NEAR(observation.detours[0].length_s, 500e-6, 2e-8);
  EXPECT_NEAR(observation.detours[1].length_s, 3e-6, 2e-8);
  EXPECT_NEAR(observation.detours[2].length_s, 4e-3, 2e-8);
  EXPECT_NEAR(observation.lost_s, 4.503e-3, 1e-7);
}

TEST(Detours, AChangeOfFrequencyIsNone) {
  std::vector<double> seconds = quiet_quanta(4096);
  const std::vector<double> slower = quiet_quanta(4096, 1.3 * quantum_s);
  seconds.insert(seconds.end(), slower.begin(), slower.end());
  EXPECT_EQ(from_quanta(seconds, clock_step_s).detours.size(), 0u);
}

TEST(Detours, TheLongestOfTooManyAreKeptInOrder) {
  std::vector<double> seconds = quiet_quanta(30000);
  double lost_s = 0;
  for (std::size_t i = 0; i < seconds.size(); i += 3) {
    const double length_s = 5e-6 + 1e-9 * static_cast<double>(i);
    seconds[i] += length_s;
    lost_s += length_s;
  }
  const Observation observation = from_quanta(seconds, clock_step_s);
  EXPECT_EQ(observation.detours.size(), max_detours);
  EXPECT_NEAR(observation.lost_s, lost_s, 0.01 * lost_s);
  EXPECT_GT(observation.detours.front().length_s, 20e-6);
  EXPECT_TRUE(std::is_sorted(observation.detours.begin(), observation.detours.end(),
                             [](const Detour& a, const Detour& b) { return a.start_s < b.start_s; }));
}

TEST(Detours, WindowsLoseTheShareOfMissingUnits) {
  std::vector<double> units(5000, 200);
  units[100] = 150;
  units[200] = 0;
  units[300] = 199;  // a unit that ended after its window
  const Observation observation = from_windows(units, 100e-6);
  ASSERT_EQ(observation.detours.size(), 2u);
  EXPECT_NEAR(observation.detours[0].start_s, 100 * 100e-6, 1e-9);
  EXPECT_NEAR(observation.detours[0].length_s, 25e-6, 1e-9);
  EXPECT_NEAR(observation.detours[1].length_s, 100e-6, 1e-9);
  EXPECT_NEAR(observation.undisturbed_s, 0.5e-6, 1e-12);
  EXPECT_NEAR(observation.observed_s, 0.5, 1e-9);
}

TEST(Detours, WindowsOfABusyCoreAreLost) {
  std::vector<double> units(5000, 0);
  for (std::size_t i = 0; i < units.size(); i += 5) units[i] = 200;
  const Observation observation = from_windows(units, 100e-6);
  EXPECT_NEAR(observation.lost_s, 0.8 * observation.observed_s, 0.01);
  EXPECT_NEAR(observation.undisturbed_s, 1e-6, 0.6e-6);
}

TEST(Detours, NothingObservedHasNone) {
  EXPECT_EQ(from_quanta({}, clock_step_s).observed_s, 0);
  EXPECT_EQ(from_windows({}, 1e-3).observed_s, 0);
}

}  // namespace
