// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// What every problem of the annealing library must do, for tests of single ones.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "hockney/annealing/problem.hpp"

namespace hockney::annealing {

// The change of a move is the difference of the energies before and after it, exactly, for random moves of
// which all are made; a state is the same after it was saved and loaded.
template <BoundedProblem P>
void check_moves(const P& problem, std::uint64_t seed, int moves = 300) {
  Random random(seed, 0, move_stream);
  typename P::State state = problem.initial(random);
  for (int i = 0; i < moves; ++i) {
    const double before = problem.energy(state);
    ASSERT_EQ(before, std::floor(before)) << problem.name();
    ASSERT_LE(std::abs(before), problem.energy_bound()) << problem.name();
    const typename P::Move move = problem.propose(state, random);
    const double change = problem.change(state, move);
    problem.accept(state, move);
    ASSERT_EQ(problem.energy(state) - before, change) << problem.name() << ", move " << i;
  }
  std::vector<std::byte> saved(problem.bytes());
  problem.save(state, saved.data());
  typename P::State loaded;
  problem.load(loaded, saved.data());
  EXPECT_EQ(problem.energy(loaded), problem.energy(state));
  // Everything that moves depend on is restored.
  for (int i = 0; i < 20; ++i) {
    Random one(seed, 1, move_stream);
    Random other(seed, 1, move_stream);
    one.seek(static_cast<std::uint64_t>(i));
    other.seek(static_cast<std::uint64_t>(i));
    const typename P::Move move = problem.propose(state, one);
    const typename P::Move same = problem.propose(loaded, other);
    ASSERT_EQ(problem.change(state, move), problem.change(loaded, same));
    problem.accept(state, move);
    problem.accept(loaded, same);
    ASSERT_EQ(problem.energy(state), problem.energy(loaded));
  }
}

// One walker by Metropolis' rule at `temperatures` temperatures, from `hot` to `cold` in equal ratios. The
// lowest energy that it meets.
template <Problem P>
double annealed(const P& problem, std::uint64_t seed, double hot, double cold, int temperatures,
                std::int64_t steps) {
  Random start(seed, 0, initial_stream);
  typename P::State state = problem.initial(start);
  Random random(seed, 0, move_stream);
  double energy = problem.energy(state);
  double best = energy;
  std::uint64_t step = 0;
  double temperature = hot;
  const double ratio = std::pow(cold / hot, 1.0 / (temperatures - 1));
  for (int t = 0; t < temperatures; ++t, temperature *= ratio)
    for (std::int64_t i = 0; i < steps; ++i) {
      random.seek(step++);
      const typename P::Move move = problem.propose(state, random);
      const double change = problem.change(state, move);
      if (change > 0 && random.uniform() >= std::exp(-change / temperature)) continue;
      problem.accept(state, move);
      energy += change;
      best = std::min(best, energy);
    }
  EXPECT_EQ(energy, problem.energy(state));
  return best;
}

}  // namespace hockney::annealing
