// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>

#include "hockney/annealing/travelling_salesman.hpp"
#include "optimal_tours.hpp"
#include "problem_checks.hpp"

namespace {

using namespace hockney::annealing;

TravellingSalesman read(const std::string& text) {
  std::istringstream in(text);
  return read_tsplib(in, "test");
}

TravellingSalesman with_type(const std::string& type, const std::string& points, int cities = 4) {
  return read("DIMENSION : " + std::to_string(cities) + "\nEDGE_WEIGHT_TYPE : " + type +
              "\nNODE_COORD_SECTION\n" + points);
}

double tour_length(const TravellingSalesman& problem, const std::vector<std::int32_t>& cities) {
  TravellingSalesman::State state{cities, {}};
  return problem.energy(state);
}

TEST(TravellingSalesman, MovesChangeTheEnergyAsComputed) {
  for (const int cities : {3, 4, 5, 6, 7, 50}) check_moves(TravellingSalesman::uniform(cities, 1), 2);
  for (const char* name : {"burma14", "att48", "gr17", "bays29", "eil51"})
    check_moves(TravellingSalesman::load(name), 3);
  for (const char* type : {"CEIL_2D", "MAN_2D", "MAX_2D"})
    check_moves(with_type(type, "1 0 0 2 3.5 4 3 -7 24.25 4 9 1 5 2 8", 5), 4);
}

TEST(TravellingSalesman, MovesKeepTheTourATour) {
  const TravellingSalesman problem = TravellingSalesman::uniform(11, 5);
  Random random(6);
  TravellingSalesman::State state = problem.initial(random);
  for (int i = 0; i < 2000; ++i) {
    problem.accept(state, problem.propose(state, random));
    std::vector<std::int32_t> cities = state.city;
    for (std::int32_t p = 0; p < 11; ++p)
      ASSERT_EQ(state.position[static_cast<std::size_t>(state.city[static_cast<std::size_t>(p)])], p);
    std::sort(cities.begin(), cities.end());
    for (std::int32_t c = 0; c < 11; ++c) ASSERT_EQ(cities[static_cast<std::size_t>(c)], c);
  }
}

// A tour as a set of edges, which neither start nor direction change.
std::set<std::pair<std::int32_t, std::int32_t>> edges(const TravellingSalesman::State& state) {
  std::set<std::pair<std::int32_t, std::int32_t>> all;
  for (std::size_t i = 0; i < state.city.size(); ++i)
    all.insert(std::minmax(state.city[i], state.city[(i + 1) % state.city.size()]));
  return all;
}

// The positions of a move's path, or of the rest of the tour, whichever is shorter: both moves are one.
std::pair<int, int> path(const TravellingSalesman::Move& move, int cities) {
  const int length = move.last - move.first + 1 + (move.last < move.first ? cities : 0);
  if (2 * length <= cities) return {move.first, move.last};
  return {(move.last + 1) % cities, (move.first + cities - 1) % cities};
}

TEST(TravellingSalesman, ProposalsAreSymmetricAndNeverChangeNothing) {
  // The near ones of the two remote cities do not have these near them.
  constexpr int cities = 13;
  const TravellingSalesman problem = with_type(
      "EUC_2D", "1 0 0 2 5 1 3 9 3 4 1 7 5 4 9 6 8 8 7 2 13 8 6 14 9 9 12 10 3 20 11 7 19 12 500 0 13 0 900",
      cities);
  constexpr int draws = 30000;
  Random random(1);
  const TravellingSalesman::State from = problem.initial(random);
  std::map<std::pair<int, int>, std::pair<int, TravellingSalesman::Move>> proposed;
  for (int i = 0; i < draws; ++i) {
    const TravellingSalesman::Move move = problem.propose(from, random);
    ++proposed.try_emplace(path(move, cities), 0, move).first->second.first;
  }
  EXPECT_EQ(proposed.size(), cities * (cities - 3) / 2U);  // pairs of edges without a common city
  std::set<std::set<std::pair<std::int32_t, std::int32_t>>> tours{edges(from)};
  for (const auto& [positions, count_and_move] : proposed) {
    TravellingSalesman::State to = from;
    problem.accept(to, count_and_move.second);
    EXPECT_TRUE(tours.insert(edges(to)).second);
    // The path at the same positions leads back.
    int back = 0;
    for (int i = 0; i < draws; ++i) back += path(problem.propose(to, random), cities) == positions ? 1 : 0;
    EXPECT_NEAR(count_and_move.first, back, 6 * std::sqrt(count_and_move.first + back));
    problem.accept(to, count_and_move.second);
    EXPECT_EQ(edges(to), edges(from));
  }
}

TEST(TravellingSalesman, DistancesAreTheFormatsOwn) {
  const auto between = [](const TravellingSalesman& problem) { return problem.distances()(0, 1); };
  const std::string rest = " 3 0 1 4 1 0";
  EXPECT_EQ(between(with_type("EUC_2D", "1 0 0 2 1 1" + rest)), 1);
  EXPECT_EQ(between(with_type("EUC_2D", "1 0 0 2 1.5 0" + rest)), 2);
  EXPECT_EQ(between(with_type("CEIL_2D", "1 0 0 2 1 1" + rest)), 2);
  EXPECT_EQ(between(with_type("CEIL_2D", "1 0 0 2 3 4" + rest)), 5);
  EXPECT_EQ(between(with_type("MAN_2D", "1 0 0 2 -3.2 4.2" + rest)), 7);
  EXPECT_EQ(between(with_type("MAX_2D", "1 0 0 2 -3.2 4.6" + rest)), 5);
  // sqrt(10 / 10) = 1; sqrt(14.4 / 10) = 1.2 rounds to 1, which is less, so 2; sqrt(32.4 / 10) = 1.8: 2.
  EXPECT_EQ(between(with_type("ATT", "1 0 0 2 1 3" + rest)), 1);
  EXPECT_EQ(between(with_type("ATT", "1 0 0 2 0 3.7947331922020555" + rest)), 2);
  EXPECT_EQ(between(with_type("ATT", "1 0 0 2 0 5.692099788303083" + rest)), 2);
}

TEST(TravellingSalesman, PublishedToursHaveThePublishedOptimum) {
  for (const auto& [name, nodes] : optimal_tours) {
    const TravellingSalesman problem = TravellingSalesman::load(name);
    std::vector<std::int32_t> cities = nodes;
    for (std::int32_t& city : cities) --city;
    EXPECT_EQ(tour_length(problem, cities), problem.optimum()) << name;
  }
}

TEST(TravellingSalesman, AnnealingFindsOptimaAndNeverLess) {
  for (const char* name : {"burma14", "ulysses16", "gr17", "gr21", "ulysses22", "gr24", "fri26", "bays29"}) {
    const TravellingSalesman problem = TravellingSalesman::load(name);
    double best = 1e300;
    const double scale = *problem.optimum() / problem.size();
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const double found = annealed(problem, seed, scale, scale / 50, 40, 100 * problem.size());
      EXPECT_GE(found, *problem.optimum()) << name;
      best = std::min(best, found);
    }
    EXPECT_EQ(best, *problem.optimum()) << name;
  }
}

TEST(TravellingSalesman, GeneratedOptimaHold) {
  for (int cities = 3; cities < 3000; cities = cities * 3 / 2 + 1) {
    const TravellingSalesman problem = TravellingSalesman::circle(cities);
    std::vector<std::int32_t> around(static_cast<std::size_t>(cities));
    std::iota(around.begin(), around.end(), 0);
    EXPECT_EQ(tour_length(problem, around), problem.optimum()) << cities;
  }
  // 3 by 3 and 4 by 5 cities: annealing reaches the optimum, and nothing below it.
  for (const auto& [rows, columns] : {std::pair{2, 2}, {3, 3}, {4, 5}, {5, 5}}) {
    const TravellingSalesman problem = TravellingSalesman::grid(rows, columns);
    double best = 1e300;
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
      best = std::min(best, annealed(problem, seed, 100, 5, 40, 500));
    EXPECT_EQ(best, problem.optimum()) << rows << " by " << columns;
  }
  EXPECT_EQ(TravellingSalesman::grid(3, 3).optimum(), 941);
}

TEST(TravellingSalesman, GeneratedCitiesDependOnTheSeedOnly) {
  const auto energy = [](std::uint64_t seed) {
    const TravellingSalesman problem = TravellingSalesman::uniform(100, seed);
    std::vector<std::int32_t> cities(100);
    std::iota(cities.begin(), cities.end(), 0);
    return tour_length(problem, cities);
  };
  EXPECT_EQ(energy(1), energy(1));
  EXPECT_NE(energy(1), energy(2));
  for (const int bad : {-1, 0, 2, 20001})
    EXPECT_THROW(TravellingSalesman::uniform(bad, 1), std::invalid_argument);
  EXPECT_THROW(TravellingSalesman::grid(1, 5), std::invalid_argument);
  EXPECT_THROW(TravellingSalesman::circle(2), std::invalid_argument);
}

}  // namespace
