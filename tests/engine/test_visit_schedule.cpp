// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "measure/visit_schedule.hpp"

namespace {

using namespace hockney;

constexpr int fewest = 5;

struct Made {
  std::vector<int> order;
  std::map<int, int> visits;
  double seconds = 0;
};

// A launch with a simulated clock: cases whose visits take `costs` seconds and have 10 repetitions each.
Made run(VisitSchedule& schedule, const std::vector<double>& costs, double budget_s) {
  Made made;
  for (const double cost : costs) {
    schedule.add(cost, 10, cost / 10);
    made.seconds += cost;
  }
  for (;;) {
    const std::optional<int> index = schedule.next(budget_s - made.seconds, fewest);
    if (!index) return made;
    const double cost = costs[static_cast<std::size_t>(*index)];
    schedule.record_visit(*index, cost, 10, cost / 10, false, false);
    made.seconds += cost;
    made.order.push_back(*index);
    ++made.visits[*index];
  }
}

TEST(VisitSchedule, EveryCaseHasItsVisitsInAnOrderThatIsDrawn) {
  VisitSchedule schedule(0.1, 20, 1000, 7);
  const Made made = run(schedule, {1e-3, 1e-3, 1e-3, 1e-3}, 0.4);
  for (int k = 0; k < 4; ++k) {
    EXPECT_EQ(made.visits.at(k), 19);
    EXPECT_STREQ(schedule.reason(k), "repetitions");
  }
  // In each round all four, not always in the same order.
  std::map<std::vector<int>, int> rounds;
  for (std::size_t at = 0; at < made.order.size(); at += 4)
    ++rounds[std::vector<int>(made.order.begin() + static_cast<long>(at),
                              made.order.begin() + static_cast<long>(at) + 4)];
  EXPECT_GT(rounds.size(), 5u);
  VisitSchedule again(0.1, 20, 1000, 7);
  EXPECT_EQ(run(again, {1e-3, 1e-3, 1e-3, 1e-3}, 0.4).order, made.order);
  VisitSchedule other(0.1, 20, 1000, 8);
  EXPECT_NE(run(other, {1e-3, 1e-3, 1e-3, 1e-3}, 0.4).order, made.order);
}

TEST(VisitSchedule, LongVisitsShareTheTimeAndNotTheirNumber) {
  VisitSchedule schedule(1.0, 40, 100000, 1);
  const Made made = run(schedule, {1e-3, 0.2, 0.01}, 3.0);
  EXPECT_LE(made.seconds, 3.0);
  EXPECT_EQ(made.visits.at(0), 39);
  EXPECT_EQ(made.visits.at(2), 39);
  EXPECT_GE(made.visits.at(1), 9) << "what the others leave is its too";
  // Its visits are spread: the short case is visited no more than a few times between two of them.
  int since = 0;
  for (const int index : made.order) {
    since = index == 1 ? 0 : since + 1;
    EXPECT_LE(since, 30);
  }
}

TEST(VisitSchedule, ARepetitionsLimitEndsACase) {
  VisitSchedule schedule(1.0, 40, 100, 1);
  EXPECT_EQ(run(schedule, {1e-3}, 1.0).visits.at(0), 9);
  EXPECT_EQ(schedule.repetitions_per_visit(), 3);
}

TEST(VisitSchedule, APreciseCaseLeavesItsTimeToTheOthers) {
  VisitSchedule schedule(1.0, 10, 1000, 1);
  schedule.add(0.1, 10, 0.01);
  schedule.add(0.1, 10, 0.01);
  schedule.record_visit(0, 0.1, 10, 0.01, false, true);
  for (int k = 0; k < 5; ++k) {
    EXPECT_EQ(schedule.next(9, fewest), 1);
    schedule.record_visit(1, 0.1, 10, 0.01, false, false);
  }
  EXPECT_STREQ(schedule.reason(0), "precision");
  EXPECT_STREQ(schedule.reason(1), "budget");
}

TEST(VisitSchedule, PreemptedVisitsAreRepeatedWithinLimits) {
  VisitSchedule schedule(1.0, 10, 100, 1);
  schedule.add(0.01, 10, 0.001);
  int visits = 1;
  while (schedule.next(9, fewest)) {
    schedule.record_visit(0, 0.01, 10, 0.001, visits % 2 == 1, false);
    ++visits;
  }
  EXPECT_EQ(visits, 19) << "nine of them, and as many that were preempted";
  VisitSchedule always(1.0, 10, 100, 1);
  always.add(0.01, 10, 0.001);
  for (visits = 1; always.next(9, fewest); ++visits) always.record_visit(0, 0.01, 10, 0.001, true, false);
  EXPECT_EQ(visits, 20);
}

TEST(VisitSchedule, TimeThatIsUpEndsAllButWhatHasTooFew) {
  VisitSchedule schedule(1.0, 10, 100, 1);
  schedule.add(0.5, 1, 0.5);
  schedule.add(0.01, 10, 0.001);
  schedule.add(3.0, 1, 3.0);
  EXPECT_EQ(schedule.next(0, fewest), 0) << "the others have enough, or take more than their share";
  for (int k = 0; k < 4; ++k) schedule.record_visit(0, 0.5, 1, 0.5, false, false);
  EXPECT_FALSE(schedule.next(0, fewest));
  VisitSchedule broken(1.0, 10, 100, 1);
  broken.add(0.5, 1, 0.5);
  broken.drop(0);
  EXPECT_FALSE(broken.next(9, fewest));
}

TEST(VisitSchedule, AVisitLastsSomeMilliseconds) {
  EXPECT_DOUBLE_EQ(VisitSchedule(0.05, 40, 1000, 1).slice_s(), 1.25e-3);
  EXPECT_DOUBLE_EQ(VisitSchedule(1e-3, 40, 1000, 1).slice_s(), 0.5e-3);
  EXPECT_DOUBLE_EQ(VisitSchedule(9, 40, 1000, 1).slice_s(), 5e-3);
}

}  // namespace
