// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "hockney/annealing/options.hpp"

namespace hockney::annealing {

// Sums over an ensemble of walkers at the end of a round.
struct EnsembleSums {
  int walkers = 0;
  double energies = 0;
  double squares = 0;  // of the energies

  double mean() const { return energies / walkers; }
  // Of at least two walkers.
  double variance() const { return std::max(0.0, (squares - energies * energies / walkers) / (walkers - 1)); }
};

// Each temperature is at least this part of the one before, also where the heat capacity vanishes.
inline constexpr double least_factor = 0.5;

// The next temperature divided by `temperature`, at which the ensemble has these sums; none if a single
// walker has no variance.
//
// Constant thermodynamic speed (P. Salamon, J. D. Nulton, J. R. Harland, J. Pedersen, G. Ruppeiner, L. Liao,
// Simulated annealing with constant thermodynamic speed, Computer Physics Communications 49, 1988, 423-428):
//
//   dT/dt = - v T / (tau sqrt(C)),   C = variance of the energies / T^2
//
// with the thermodynamic speed v, the relaxation time tau and the heat capacity C. Here tau is a round: the
// statistics that the ranks exchange are insufficient for an estimate of it. For the constant C that a round
// measures, the solution after one round is T exp(-v / sqrt(C)).
inline std::optional<double> cooling_factor(const Options& options, double temperature,
                                            const EnsembleSums& sums) {
  if (options.cooling == Cooling::geometric) return options.factor;
  if (sums.walkers < 2) return std::nullopt;
  const double root_of_capacity = std::sqrt(sums.variance()) / temperature;
  return std::max(least_factor, std::exp(-options.speed / root_of_capacity));
}

// The temperature of the rounds that no statistics decide, because these take effect 1 + lag rounds later:
// for constant speed the initial temperature remains, geometric cooling needs no statistics.
inline double temperature_without_statistics(const Options& options, double initial, int round) {
  return options.cooling == Cooling::geometric ? initial * std::pow(options.factor, round) : initial;
}

// The temperature of `round`, after `before`. Geometric temperatures are always computed in the same way, so
// that they have the same bits in all set-ups.
inline double next_temperature(const Options& options, double initial, int round, double before,
                               double factor) {
  return options.cooling == Cooling::geometric ? temperature_without_statistics(options, initial, round)
                                               : before * factor;
}

}  // namespace hockney::annealing
