// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "measure/stopping.hpp"

namespace {

using namespace hockney;

const StopRule rule{.precision = 0.02, .budget_s = 1, .max_repetitions = 1000};

void expect(const Progress& progress, Next next, int count = 0) {
  const Decision decision = decide(progress, rule);
  EXPECT_EQ(decision.next, next);
  EXPECT_EQ(decision.count, count);
}

TEST(Stopping, TheSampleGrowsByHalfWhileThereIsTime) {
  expect({.repetitions = 0, .repetition_s = 1e-5, .remaining_s = 0.9}, Next::repeat, 30);
  expect({.repetitions = 0, .repetition_s = 0.02, .remaining_s = 0.9, .first_chunk = 1}, Next::repeat, 1);
  expect({.repetitions = 100, .achieved_precision = 0.5, .repetition_s = 1e-5, .remaining_s = 0.9},
         Next::repeat, 51);
  expect({.repetitions = 100, .achieved_precision = 0.5, .repetition_s = 0.1, .remaining_s = 0.45},
         Next::repeat, 4);
  expect({.repetitions = 900, .achieved_precision = 0.5, .repetition_s = 1e-5, .remaining_s = 0.9},
         Next::repeat, 100);
}

TEST(Stopping, AChunkIsAsLongAsItsStart) {
  expect({.repetitions = 0, .repetition_s = 0.5, .remaining_s = 0.1, .min_chunk = 70}, Next::repeat, 70);
  expect({.repetitions = 0, .repetition_s = 1e-5, .remaining_s = 0.9, .min_chunk = 70}, Next::repeat, 70);
  expect({.repetitions = 0, .repetition_s = 1e-5, .remaining_s = 0.9, .min_chunk = 7000}, Next::repeat, 1000);
  expect({.repetitions = 70, .repetition_s = 0.5, .remaining_s = 0.1, .min_chunk = 70}, Next::stop_budget);
}

TEST(Stopping, PrecisionCountsFromEnoughRepetitionsOn) {
  expect({.repetitions = 299, .achieved_precision = 0.01, .repetition_s = 1e-5, .remaining_s = 0.9},
         Next::repeat, 150);
  expect({.repetitions = 300, .achieved_precision = 0.01, .repetition_s = 1e-5, .remaining_s = 0.9},
         Next::stop_precise);
  expect({.repetitions = 300, .achieved_precision = 0.03, .repetition_s = 1e-5, .remaining_s = 0.9},
         Next::repeat, 151);
  expect({.repetitions = 20, .achieved_precision = 0.01, .repetition_s = 1e-5, .remaining_s = 0},
         Next::stop_precise);
  expect({.repetitions = 1000, .achieved_precision = 0.01, .repetition_s = 1e-5, .remaining_s = 0.9},
         Next::stop_precise);
  expect({.repetitions = 1000, .achieved_precision = 0.03, .repetition_s = 1e-5, .remaining_s = 0.9},
         Next::stop_repetitions);
}

TEST(Stopping, ACaseWhoseTimeIsUpGetsItsFewestRepetitions) {
  expect({.repetitions = 0, .repetition_s = 0.5, .remaining_s = 0.1}, Next::repeat, 1);
  expect({.repetitions = 0, .repetition_s = 5, .remaining_s = -1}, Next::repeat, 1);
  expect({.repetitions = 2, .repetition_s = 0.5, .remaining_s = 0.1}, Next::repeat, 3);
  expect({.repetitions = 2, .repetition_s = 5, .remaining_s = -1}, Next::stop_budget);
  expect({.repetitions = 5, .repetition_s = 0.5, .remaining_s = 0.1}, Next::stop_budget);
}

TEST(Stopping, RanksThatNeverMeetGiveUp) {
  expect({.repetitions = 0, .repetition_s = 0.5, .remaining_s = 0.9, .late_count = 500}, Next::repeat, 1);
  expect({.repetitions = 0, .repetition_s = 0.5, .remaining_s = 0.1, .late_count = 199}, Next::repeat, 1);
  expect({.repetitions = 0, .repetition_s = 0.5, .remaining_s = 0.1, .late_count = 200}, Next::give_up);
}

TEST(Stopping, AVisitWarmsUpAsFarAsItCanAfford) {
  EXPECT_EQ(min_warm_up_repetitions(1e-6, 1, 0.5), Method::min_warm_up_runs);
  EXPECT_EQ(min_warm_up_repetitions(0.04, 1, 0.5), 7);  // with 5 repetitions
  EXPECT_EQ(min_warm_up_repetitions(0.1, 1, 0.5), 0);
  EXPECT_EQ(min_warm_up_repetitions(10, 1, 0.5), 0);
  EXPECT_EQ(min_warm_up_repetitions(0, 3, 0.5), 2);  // whole repetitions
}

TEST(Stopping, ABatchIsLongEnoughForTheClock) {
  EXPECT_EQ(batch_for(1e-6, {25e-9, 1e-9}), 3);
  EXPECT_EQ(batch_for(1e-3, {25e-9, 1e-9}), 1);
  EXPECT_EQ(batch_for(1e-6, {25e-9, 1e-6}), 10);
  EXPECT_EQ(batch_for(0, {25e-9, 1e-9}), 1);
  EXPECT_EQ(batch_for(1e-12, {1e-6, 1e-6}), Method::largest_batch);
}

}  // namespace
