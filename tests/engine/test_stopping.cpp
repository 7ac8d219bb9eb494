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
  expect({.done = 0, .repetition_s = 1e-5, .left_s = 0.9}, Next::repeat, 30);
  expect({.done = 0, .repetition_s = 0.02, .left_s = 0.9, .first_chunk = 1}, Next::repeat, 1);
  expect({.done = 100, .achieved = 0.5, .repetition_s = 1e-5, .left_s = 0.9}, Next::repeat, 51);
  expect({.done = 100, .achieved = 0.5, .repetition_s = 0.1, .left_s = 0.45}, Next::repeat, 4);
  expect({.done = 900, .achieved = 0.5, .repetition_s = 1e-5, .left_s = 0.9}, Next::repeat, 100);
}

TEST(Stopping, PrecisionCountsFromEnoughRepetitionsOn) {
  expect({.done = 299, .achieved = 0.01, .repetition_s = 1e-5, .left_s = 0.9}, Next::repeat, 150);
  expect({.done = 300, .achieved = 0.01, .repetition_s = 1e-5, .left_s = 0.9}, Next::stop_precise);
  expect({.done = 300, .achieved = 0.03, .repetition_s = 1e-5, .left_s = 0.9}, Next::repeat, 151);
  expect({.done = 20, .achieved = 0.01, .repetition_s = 1e-5, .left_s = 0}, Next::stop_precise);
  expect({.done = 1000, .achieved = 0.01, .repetition_s = 1e-5, .left_s = 0.9}, Next::stop_precise);
  expect({.done = 1000, .achieved = 0.03, .repetition_s = 1e-5, .left_s = 0.9}, Next::stop_repetitions);
}

TEST(Stopping, ACaseWhoseTimeIsUpGetsItsFewestRepetitions) {
  expect({.done = 0, .repetition_s = 0.5, .left_s = 0.1}, Next::repeat, 1);
  expect({.done = 0, .repetition_s = 5, .left_s = -1}, Next::repeat, 1);
  expect({.done = 2, .repetition_s = 0.5, .left_s = 0.1}, Next::repeat, 3);
  expect({.done = 2, .repetition_s = 5, .left_s = -1}, Next::stop_budget);
  expect({.done = 5, .repetition_s = 0.5, .left_s = 0.1}, Next::stop_budget);
}

TEST(Stopping, RanksThatNeverMeetGiveUp) {
  expect({.done = 0, .repetition_s = 0.5, .left_s = 0.9, .late = 500}, Next::repeat, 1);
  expect({.done = 0, .repetition_s = 0.5, .left_s = 0.1, .late = 199}, Next::repeat, 1);
  expect({.done = 0, .repetition_s = 0.5, .left_s = 0.1, .late = 200}, Next::give_up);
}

TEST(Stopping, AVisitWarmsUpAsFarAsItCanAfford) {
  EXPECT_EQ(fewest_warm_up(1e-6, 1, 0.5), Method::fewest_warm_up_runs);
  EXPECT_EQ(fewest_warm_up(0.04, 1, 0.5), 7);  // with 5 repetitions
  EXPECT_EQ(fewest_warm_up(0.1, 1, 0.5), 0);
  EXPECT_EQ(fewest_warm_up(10, 1, 0.5), 0);
  EXPECT_EQ(fewest_warm_up(0, 3, 0.5), 2);  // whole repetitions
}

TEST(Stopping, ABatchIsLongEnoughForTheClock) {
  EXPECT_EQ(batch_for(1e-6, {25e-9, 1e-9}), 3);
  EXPECT_EQ(batch_for(1e-3, {25e-9, 1e-9}), 1);
  EXPECT_EQ(batch_for(1e-6, {25e-9, 1e-6}), 10);
  EXPECT_EQ(batch_for(0, {25e-9, 1e-9}), 1);
  EXPECT_EQ(batch_for(1e-12, {1e-6, 1e-6}), Method::largest_batch);
}

}  // namespace
