// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "ensemble/quantum.hpp"
#include "hockney/annealing/schedule.hpp"

namespace {

using namespace hockney::annealing;

EnsembleSums sums_of(const std::vector<double>& energies) {
  EnsembleSums sums{.walkers = static_cast<int>(energies.size())};
  for (const double energy : energies) {
    sums.energies += energy;
    sums.squares += energy * energy;
  }
  return sums;
}

TEST(Schedule, ConstantSpeedFollowsTheHeatCapacity) {
  const EnsembleSums sums = sums_of({1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(sums.mean(), 2.5);
  EXPECT_NEAR(sums.variance(), 5.0 / 3, 1e-15);
  Options options;
  options.speed = 0.2;
  const double temperature = 0.5;
  const double capacity = 5.0 / 3 / (temperature * temperature);
  EXPECT_NEAR(cooling_factor(options, temperature, sums).value(), std::exp(-0.2 / std::sqrt(capacity)),
              1e-15);
}

// The exact solution of the differential equation, in many small steps.
TEST(Schedule, ARoundHasTheThermodynamicLengthOfTheSpeed) {
  Options options;
  options.speed = 0.3;
  const EnsembleSums sums = sums_of({-1, 5, 2, 2.5});
  const double root_of_capacity = std::sqrt(sums.variance()) / 2;
  double temperature = 2;
  constexpr int parts = 1000000;
  for (int i = 0; i < parts; ++i) temperature -= options.speed / parts * temperature / root_of_capacity;
  EXPECT_NEAR(2 * cooling_factor(options, 2, sums).value(), temperature, 1e-6);
}

TEST(Schedule, ASingleWalkerHasNoVarianceAndAFrozenEnsembleALimit) {
  const Options options;
  EXPECT_FALSE(cooling_factor(options, 1, sums_of({3})));
  EXPECT_EQ(cooling_factor(options, 1, sums_of({3, 3, 3})).value(), least_factor);
}

TEST(Schedule, GeometricNeedsNoEnergies) {
  Options options;
  options.cooling = Cooling::geometric;
  options.factor = 0.9;
  EXPECT_EQ(cooling_factor(options, 1, sums_of({3})).value(), 0.9);
  EXPECT_NEAR(temperature_without_statistics(options, 2, 3), 2 * 0.9 * 0.9 * 0.9, 1e-15);
  options.cooling = Cooling::constant_speed;
  EXPECT_EQ(temperature_without_statistics(options, 2, 3), 2);
}

// Sums over any division of any ensemble, in any order, have the same bits.
TEST(Quantum, SumsDoNotDependOnTheirOrder) {
  std::mt19937 random(3);
  for (int repetition = 0; repetition < 200; ++repetition) {
    const int walkers = 1 + static_cast<int>(random() % 300);
    const double scale = std::pow(10.0, static_cast<int>(random() % 40) - 20);
    const double offset = random() % 3 == 0 ? scale * 100 : 0;
    std::normal_distribution<double> normal(offset, scale);
    std::vector<double> energies(static_cast<std::size_t>(walkers));
    double largest = 0;
    for (double& energy : energies) {
      energy = normal(random);
      largest = std::max(largest, std::abs(energy));
    }
    const Quantum quantum(walkers, largest);
    ASSERT_GE(quantum.largest(), largest);
    for (double& energy : energies) {
      const double rounded = quantum.rounded(energy);
      // Half a quantum, and relative to the largest energy less than 2^-26 times the root of the walkers.
      ASSERT_LE(std::abs(rounded - energy), 0.5 * quantum.value());
      ASSERT_LE(quantum.value(), largest * std::sqrt(walkers) * 0x1p-25);
      energy = rounded;
    }
    const EnsembleSums once = sums_of(energies);
    for (int order = 0; order < 5; ++order) {
      std::shuffle(energies.begin(), energies.end(), random);
      EnsembleSums all{.walkers = walkers};
      for (std::size_t first = 0; first < energies.size();) {
        const std::size_t count = 1 + random() % (energies.size() - first);
        const auto begin = energies.begin() + static_cast<std::ptrdiff_t>(first);
        const EnsembleSums part = sums_of({begin, begin + static_cast<std::ptrdiff_t>(count)});
        all.energies += part.energies;
        all.squares += part.squares;
        first += count;
      }
      ASSERT_EQ(all.energies, once.energies);
      ASSERT_EQ(all.squares, once.squares);
    }
  }
}

TEST(Quantum, LargerEnergiesAreLimited) {
  const Quantum quantum(64, 100);
  EXPECT_EQ(quantum.rounded(1e6), quantum.largest());
  EXPECT_EQ(quantum.rounded(-1e6), -quantum.largest());
  EXPECT_LT(quantum.largest(), 200.1);
  EXPECT_EQ(Quantum(64, 0).rounded(3), 3);  // all initial energies may be 0
}

}  // namespace
