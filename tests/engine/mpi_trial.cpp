// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// The library's trial of candidates, with some of which the outcome is known.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/invalid_case.hpp"
#include "base/statistics.hpp"
#include "library/trial.hpp"

namespace {

using namespace hockney;
using std::chrono::milliseconds;

class Idle final : public Barrier {
 public:
  explicit Idle(MPI_Comm) {}
  void wait() override {}
};

class Sleepy final : public Barrier {
 public:
  explicit Sleepy(MPI_Comm) {}
  void wait() override { std::this_thread::sleep_for(milliseconds(1)); }
};

Traffic none(int) {
  return {};
}

constexpr BarrierAlgorithm idle{"idle", "", "", Means::mpi, none, make_barrier_of<Idle>};
constexpr BarrierAlgorithm sleepy{"sleepy", "", "", Means::mpi, none, make_barrier_of<Sleepy>};
constexpr BarrierAlgorithm refused{
    "refused",  "",   "",
    Means::mpi, none, [](MPI_Comm) -> std::unique_ptr<Barrier> { throw InvalidCase("not here"); }};
constexpr BarrierAlgorithm late{
    "late", "", "", Means::mpi, none, [](MPI_Comm comm) -> std::unique_ptr<Barrier> {
      std::this_thread::sleep_for(milliseconds(50));
      return std::make_unique<Idle>(comm);
    }};

std::vector<Trial> tried(const std::vector<const BarrierAlgorithm*>& candidates, double limit) {
  const WaitPolicy wait_policy(MPI_COMM_WORLD);
  return try_out(MPI_COMM_WORLD, wait_policy, candidates, MPI_Wtime(), limit);
}

TEST(Trial, FindsTheQuickest) {
  const auto found = tried({&sleepy, &refused, &idle}, 10);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].algorithm, &idle);
  EXPECT_EQ(found[1].algorithm, &sleepy);
  ASSERT_GE(found[1].rounds.size(), 1u);
  EXPECT_GE(median(found[1].rounds), 1e-3);
  EXPECT_LT(median(found[0].rounds), 1e-3);
}

TEST(Trial, TakesTheFirstUntriedWhereTimeIsUp) {
  const auto found = tried({&late, &idle}, 0.05);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].algorithm, &late);
  EXPECT_TRUE(found[0].rounds.empty());
}

TEST(Trial, GivesNothingWhereAllRefuse) {
  EXPECT_TRUE(tried({&refused, &refused}, 1).empty());
}

}  // namespace
