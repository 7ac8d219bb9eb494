// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>

#include "hockney/annealing/spin_glass.hpp"
#include "problem_checks.hpp"

namespace {

using namespace hockney::annealing;

// The lowest energy of all states.
double enumerated(const SpinGlass& glass) {
  SpinGlass::State state{std::vector<std::int8_t>(static_cast<std::size_t>(glass.size()), 1)};
  double energy = glass.energy(state);
  double lowest = energy;
  // In Gray code, each state differs from the last one in one spin.
  for (std::uint64_t i = 1; i < 1ULL << glass.size(); ++i) {
    std::int32_t site = 0;
    while ((i >> site & 1U) == 0) ++site;
    energy += glass.change(state, {site});
    glass.accept(state, {site});
    lowest = std::min(lowest, energy);
  }
  return lowest;
}

// The lowest energy of a square lattice with free boundaries, row after row: another way than the class has.
int by_rows(const SpinGlass& glass) {
  const int edge = glass.edge();
  const auto spin = [](unsigned row, int x) { return (row >> x & 1U) != 0 ? 1 : -1; };
  std::vector<int> lowest(1U << edge, 0);
  for (int y = 0; y < edge; ++y) {
    std::vector<int> next(lowest.size(), std::numeric_limits<int>::max());
    for (unsigned row = 0; row < next.size(); ++row) {
      int inside = 0;
      for (int x = 0; x + 1 < edge; ++x)
        inside -= glass.bond(y * edge + x, 0).coupling * spin(row, x) * spin(row, x + 1);
      for (unsigned above = 0; above < lowest.size(); ++above) {
        int between = 0;
        if (y > 0)
          for (int x = 0; x < edge; ++x)
            between -= glass.bond((y - 1) * edge + x, 1).coupling * spin(above, x) * spin(row, x);
        next[row] = std::min(next[row], lowest[above] + between + inside);
      }
    }
    lowest = next;
  }
  return *std::min_element(lowest.begin(), lowest.end());
}

TEST(SpinGlass, MovesChangeTheEnergyAsComputed) {
  for (const int dimensions : {2, 3})
    for (const int edge : {2, 3, 6}) {
      check_moves(SpinGlass(dimensions, edge, 1), 2);
      check_moves(SpinGlass(dimensions, edge, 1, false), 3);
      if (edge % 2 == 0) check_moves(SpinGlass::planted(dimensions, edge, 1), 4);
    }
}

TEST(SpinGlass, HasOneCouplingOfEachSignPerBond) {
  for (const bool periodic : {true, false})
    for (const int dimensions : {2, 3}) {
      const int edge = 8;
      const SpinGlass glass(dimensions, edge, 7, periodic);
      int bonds = 0;
      int sum = 0;
      for (int site = 0; site < glass.size(); ++site)
        for (int direction = 0; direction < dimensions; ++direction) {
          const SpinGlass::Bond& there = glass.bond(site, direction);
          bonds += std::abs(there.coupling);
          sum += there.coupling;
          if (there.coupling == 0) continue;
          const SpinGlass::Bond& back = glass.bond(there.site, direction + dimensions);
          EXPECT_EQ(back.site, site);
          EXPECT_EQ(back.coupling, there.coupling);
        }
      const int lines = glass.size() / edge * dimensions;
      EXPECT_EQ(bonds, lines * (periodic ? edge : edge - 1));
      EXPECT_LT(std::abs(sum), 6 * std::sqrt(bonds));
    }
}

TEST(SpinGlass, LowestEnergiesAreFoundByAnnealing) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const SpinGlass small(2, 4, seed);
    EXPECT_EQ(annealed(small, seed, 3, 0.2, 30, 1000), enumerated(small));
    const SpinGlass cube(3, 2, seed);
    EXPECT_EQ(annealed(cube, seed, 3, 0.2, 30, 500), enumerated(cube));
    const SpinGlass free(2, 7, seed, false);
    EXPECT_EQ(annealed(free, seed, 3, 0.2, 50, 4000), by_rows(free));
  }
  const SpinGlass free(2, 4, 9, false);
  EXPECT_EQ(enumerated(free), by_rows(free));
}

TEST(SpinGlass, PlantedOptimaAreTheLowestEnergies) {
  std::set<double> optima;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const SpinGlass plane = SpinGlass::planted(2, 4, seed);
    EXPECT_EQ(enumerated(plane), plane.optimum());
    optima.insert(*plane.optimum());
    const SpinGlass cube = SpinGlass::planted(3, 2, seed);
    EXPECT_EQ(enumerated(cube), cube.optimum());
    for (const SpinGlass& glass : {SpinGlass::planted(2, 8, seed), SpinGlass::planted(3, 4, seed)}) {
      // Frustrated: a ferromagnet would reach -dimensions for each spin.
      EXPECT_GT(*glass.optimum(), -glass.dimensions() * glass.size());
      double best = 0;
      for (std::uint64_t run = 1; run <= 4; ++run)
        best = std::min(best, annealed(glass, run, 3, 0.3, 40, 1600));
      EXPECT_EQ(best, glass.optimum()) << glass.name();
    }
  }
  EXPECT_GT(optima.size(), 1U);
}

TEST(SpinGlass, RefusesWhatIsNoLattice) {
  EXPECT_THROW(SpinGlass(1, 8, 1), std::invalid_argument);
  EXPECT_THROW(SpinGlass(4, 8, 1), std::invalid_argument);
  EXPECT_THROW(SpinGlass(2, 1, 1), std::invalid_argument);
  EXPECT_THROW(SpinGlass(2, 2000000000, 1), std::invalid_argument);
  EXPECT_THROW(SpinGlass(3, 216, 1), std::invalid_argument);
  EXPECT_THROW(SpinGlass::planted(2, 7, 1), std::invalid_argument);
  EXPECT_THROW(SpinGlass::planted(5, 8, 1), std::invalid_argument);
}

}  // namespace
