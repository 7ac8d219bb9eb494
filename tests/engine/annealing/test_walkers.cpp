// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "hockney/annealing/walkers.hpp"
#include "toy.hpp"

namespace {

using namespace hockney::annealing;

// Energies 0, 1, 2 with 1, 3 and 2 states; a move goes to any of the six.
struct Levels {
  using State = int;
  using Move = int;
  int initial(Random& random) const { return propose(0, random); }
  double energy(int state) const { return state == 0 ? 0 : state < 4 ? 1 : 2; }
  int propose(int, Random& random) const { return static_cast<int>(random.below(6)); }
  double change(int state, int move) const { return energy(move) - energy(state); }
  void accept(int& state, int move) const { state = move; }
  std::size_t bytes() const { return sizeof(int); }
  void save(int state, std::byte* out) const { std::memcpy(out, &state, sizeof state); }
  void load(int& state, const std::byte* in) const { std::memcpy(&state, in, sizeof state); }
};

TEST(Walkers, HaveTheBoltzmannDistribution) {
  Options options;
  WalkersOf<Levels> walkers(Levels{}, options);
  walkers.create(0, 1);
  constexpr int samples = 200000;
  constexpr double temperature = 0.8;
  int counts[3] = {};
  for (int i = 0; i < samples; ++i) {
    walkers.advance(0, 0, temperature, 3);
    ++counts[static_cast<int>(walkers[0].energy)];
  }
  const double weights[3] = {1, 3 * std::exp(-1 / temperature), 2 * std::exp(-2 / temperature)};
  const double sum = weights[0] + weights[1] + weights[2];
  // Successive samples are correlated: ten standard deviations of independent ones.
  for (int level = 0; level < 3; ++level)
    EXPECT_NEAR(counts[level] / double{samples}, weights[level] / sum, 10 * 0.5 / std::sqrt(samples))
        << level;
}

TEST(Walkers, AcceptWithTheProbabilityOfMetropolis) {
  Random random(5);
  for (const double x : {0.001, 0.1, 0.5, 1.0, 2.0, 5.0}) {
    constexpr int draws = 400000;
    int accepted = 0;
    for (int i = 0; i < draws; ++i) accepted += accepts(2 * x, 0.5, random) ? 1 : 0;
    const double p = std::exp(-x);
    EXPECT_NEAR(accepted / double{draws}, p, 5 * std::sqrt(p * (1 - p) / draws)) << x;
  }
  EXPECT_FALSE(accepts(INFINITY, 1, random));
  EXPECT_FALSE(accepts(NAN, 1, random));
}

// The bounds that spare an exponential never decide differently: the same draw, compared with exp.
TEST(Walkers, AcceptExactlyWhatTheExponentialAccepts) {
  for (std::uint64_t i = 0; i < 200000; ++i) {
    Random random(6);
    random.seek(i);
    Random same = random;
    const double x = static_cast<double>(i % 2300) / 100;
    ASSERT_EQ(accepts(x, 1, random), same.uniform() < std::exp(-x)) << i;
  }
}

void expect_same(const Walkers& one, const Walkers& other) {
  ASSERT_EQ(one.size(), other.size());
  std::vector<std::byte> saved(one.bytes()), other_saved(one.bytes());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].energy, other[i].energy);
    one.save(i, saved.data());
    other.save(i, other_saved.data());
    EXPECT_EQ(saved, other_saved);
  }
  EXPECT_EQ(one.best().energy, other.best().energy);
  EXPECT_EQ(one.best_state(), other.best_state());
}

TEST(Walkers, PathsDoNotDependOnPieces) {
  const toy::Partition problem;
  const Options options;
  WalkersOf<toy::Partition> whole(problem, options), pieces(problem, options);
  whole.create(7, 3);
  pieces.create(7, 3);
  for (std::size_t i = 0; i < 3; ++i) whole.advance(i, 0, 2, 1000);
  for (const int steps : {1, 999})
    for (std::size_t i = 0; i < 3; ++i) pieces.advance(i, 0, 2, steps);
  expect_same(whole, pieces);
  EXPECT_EQ(whole.accepted(), pieces.accepted());
  EXPECT_GT(whole.accepted(), 0);
}

TEST(Walkers, ContinueElsewhere) {
  const toy::Partition problem;
  const Options options;
  WalkersOf<toy::Partition> stays(problem, options), sends(problem, options), receives(problem, options);
  stays.create(0, 6);
  sends.create(0, 4);
  receives.create(4, 2);
  for (std::size_t i = 0; i < 6; ++i) stays.advance(i, 0, 2, 500);
  for (std::size_t i = 0; i < 4; ++i) sends.advance(i, 0, 2, 500);
  for (std::size_t i = 0; i < 2; ++i) receives.advance(i, 0, 2, 500);
  std::vector<std::byte> third(sends.bytes()), fourth(sends.bytes());
  sends.save(2, third.data());
  sends.save(3, fourth.data());
  sends.reshape({0, 1});
  receives.reshape({2, 3, 4, 5});
  receives.load(0, third.data());
  receives.load(1, fourth.data());
  for (std::size_t i = 0; i < 6; ++i) stays.advance(i, 1, 1, 500);
  for (std::size_t i = 0; i < 2; ++i) sends.advance(i, 1, 1, 500);
  for (std::size_t i = 0; i < 4; ++i) receives.advance(i, 1, 1, 500);
  for (std::size_t i = 0; i < 6; ++i) {
    const Walkers& holder = i < 2 ? static_cast<const Walkers&>(sends) : receives;
    const std::size_t index = i < 2 ? i : i - 2;
    EXPECT_EQ(holder[index].number, i);
    EXPECT_EQ(holder[index].energy, stays[i].energy);
    EXPECT_EQ(holder[index].steps, 1000u);
  }
}

TEST(Walkers, TheSampledTemperatureAcceptsHalfOfTheMeanRise) {
  Options options;
  const Levels levels;
  // Rises of the six states, among moves to any: 0 to 1 three times, 0 to 2 twice, 1 to 2 six times.
  const double mean = (3 * 1 + 2 * 2 + 6 * 1) / 11.0;
  const double temperature = WalkersOf<Levels>(levels, options).sampled_temperature();
  EXPECT_NEAR(temperature, mean / std::log(2.0), 0.1);
  EXPECT_EQ(temperature, WalkersOf<Levels>(levels, options).sampled_temperature());
  options.seed = 2;
  EXPECT_NE(temperature, WalkersOf<Levels>(levels, options).sampled_temperature());
}

TEST(Walkers, StopAtAnEnergyThatIsNotANumber) {
  struct Broken : Levels {
    double change(int state, int move) const { return move == 5 ? NAN : Levels::change(state, move); }
  };
  const Broken problem;
  WalkersOf<Broken> walkers(problem, Options{});
  walkers.create(0, 1);
  walkers.advance(0, 0, 1, 1000);
  EXPECT_TRUE(std::isnan(walkers[0].energy));
  EXPECT_TRUE(std::isfinite(walkers.best().energy));
}

}  // namespace
