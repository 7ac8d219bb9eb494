// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "hockney/annealing/quadratic_assignment.hpp"
#include "problem_checks.hpp"

namespace {

using namespace hockney::annealing;

// Asymmetric, and with elements on the diagonals.
QuadraticAssignment general(int size, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int32_t> flows;
  std::vector<std::int32_t> distances;
  for (int i = 0; i < size * size; ++i) {
    flows.push_back(static_cast<std::int32_t>(random.below(1000)));
    distances.push_back(static_cast<std::int32_t>(random.below(1000)));
  }
  return {{"general", "test", std::nullopt}, size, flows, distances};
}

TEST(QuadraticAssignment, MovesChangeTheEnergyAsComputed) {
  for (const int size : {2, 3, 4, 5, 20}) {
    EXPECT_TRUE(QuadraticAssignment::uniform(size, 1).symmetric());
    check_moves(QuadraticAssignment::uniform(size, 1), 2);
    EXPECT_FALSE(general(size, 1).symmetric());
    check_moves(general(size, 1), 3);
  }
  for (const char* name : {"nug12", "bur26a", "lipa20a", "esc16a"})
    check_moves(QuadraticAssignment::load(name), 4);
}

TEST(QuadraticAssignment, PublishedSolutionsHaveThePublishedOptimum) {
  int count = 0;
  for (const ShippedInstance& shipped : shipped_instances()) {
    if (shipped.kind != "dat") continue;
    const QuadraticAssignment problem = QuadraticAssignment::load(std::string(shipped.name));
    std::istringstream words{std::string(shipped.solution)};
    int size = 0;
    double optimum = 0;
    words >> size >> optimum;
    QuadraticAssignment::State state;
    for (std::int32_t location = 0; words >> location;) state.location.push_back(location - 1);
    ASSERT_EQ(size, problem.size()) << problem.name();
    ASSERT_EQ(state.location.size(), static_cast<std::size_t>(size)) << problem.name();
    EXPECT_EQ(problem.energy(state), optimum) << problem.name();
    EXPECT_EQ(problem.optimum(), optimum) << problem.name();
    ++count;
  }
  EXPECT_GT(count, 10);
}

TEST(QuadraticAssignment, AnnealingFindsOptimaAndNeverLess) {
  // Of all assignments of 7 facilities.
  const QuadraticAssignment small = general(7, 5);
  QuadraticAssignment::State state;
  state.location.resize(7);
  std::iota(state.location.begin(), state.location.end(), 0);
  double lowest = small.energy(state);
  while (std::next_permutation(state.location.begin(), state.location.end()))
    lowest = std::min(lowest, small.energy(state));
  EXPECT_EQ(annealed(small, 1, 1e6, 1e4, 50, 500), lowest);
  for (const char* name : {"nug12", "had12", "tai12a", "rou12", "esc16a", "scr12"}) {
    const QuadraticAssignment problem = QuadraticAssignment::load(name);
    const double scale = *problem.optimum() / problem.size();
    double best = 1e300;
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
      best = std::min(best, annealed(problem, seed, scale, scale / 100, 40, 1000));
    EXPECT_EQ(best, problem.optimum()) << name;
  }
}

TEST(QuadraticAssignment, RefusesWhatCannotBeExact) {
  const std::vector<std::int32_t> large(4, 2147483647);
  EXPECT_THROW(QuadraticAssignment({"x", "test", std::nullopt}, 2, large, large), std::invalid_argument);
  EXPECT_THROW(QuadraticAssignment({"x", "test", std::nullopt}, 2, {0, 1, 2}, {0, 1, 2, 3}),
               std::invalid_argument);
  EXPECT_THROW(QuadraticAssignment({"x", "test", std::nullopt}, 2, {0, 1, -2, 0}, {0, 1, 2, 3}),
               std::invalid_argument);
  for (const int bad : {-1, 0, 1, 5001})
    EXPECT_THROW(QuadraticAssignment::uniform(bad, 1), std::invalid_argument);
}

}  // namespace
