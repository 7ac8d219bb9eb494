// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// The library's trial of candidates, with candidates whose outcome is known.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/invalid_case.hpp"
#include "base/statistics.hpp"
#include "library/candidates.hpp"
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

constexpr BarrierAlgorithm idle{"idle", "", "", Signalling::mpi, none, make_barrier_of<Idle>};
constexpr BarrierAlgorithm sleepy{"sleepy", "", "", Signalling::mpi, none, make_barrier_of<Sleepy>};
constexpr BarrierAlgorithm refused{
    "refused",       "",   "",
    Signalling::mpi, none, [](MPI_Comm) -> std::unique_ptr<Barrier> { throw InvalidCase("not here"); }};
constexpr BarrierAlgorithm late{
    "late", "", "", Signalling::mpi, none, [](MPI_Comm comm) -> std::unique_ptr<Barrier> {
      std::this_thread::sleep_for(milliseconds(50));
      return std::make_unique<Idle>(comm);
    }};

std::vector<Trial> tried(const std::vector<const BarrierAlgorithm*>& candidates, double limit) {
  const WaitPolicy wait_policy(MPI_COMM_WORLD);
  return run_trials(MPI_COMM_WORLD, wait_policy, candidates, MPI_Wtime(), limit);
}

std::string names(const NodeLayout& layout, int size) {
  std::string all;
  for (const BarrierAlgorithm* algorithm : candidates(all_barriers(), order_for(layout, size)))
    all += (all.empty() ? "" : " ") + std::string(algorithm->name);
  return all;
}

TEST(Candidates, AreInTheOrderThatTheirFilesSay) {
  EXPECT_EQ(names({1, 1, true, false}, 1), "dissemination");
  EXPECT_EQ(names({4, 8, true, false}, 4),
            "shm_dissemination mpi shm_central shm_tree one_sided dissemination");
  EXPECT_EQ(names({4, 2, true, true}, 4),
            "shm_central mpi shm_tree one_sided shm_dissemination dissemination");
  const std::string apart =
      "hierarchical mpi dissemination dissemination_nway recursive_doubling persistent mpi_nonblocking "
      "binomial one_sided";
  EXPECT_EQ(names({2, 8, false, false}, 4), apart);
  EXPECT_EQ(names({2, 1, false, true}, 4), apart);
}

TEST(Candidates, OfANewFileComeLastAndAreMissedByNobody) {
  constexpr BarrierAlgorithm first{"first",     "", "", Signalling::mpi, none, make_barrier_of<Idle>,
                                   {1, 1, 1, 1}};
  constexpr BarrierAlgorithm never{"never",    "", "", Signalling::mpi, none, make_barrier_of<Idle>,
                                   never_tried};
  const std::vector<const BarrierAlgorithm*> table{&idle, &never, &first};
  for (const auto place : {&TrialOrder::one_node, &TrialOrder::oversubscribed, &TrialOrder::multiple_nodes})
    EXPECT_EQ(candidates(table, place), (std::vector<const BarrierAlgorithm*>{&first, &idle}));
  EXPECT_EQ(candidates(table, &TrialOrder::single_rank), (std::vector<const BarrierAlgorithm*>{&first}));
  EXPECT_TRUE(candidates({}, &TrialOrder::single_rank).empty());
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
