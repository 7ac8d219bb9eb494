// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "ensemble/checks.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace hockney::annealing {
namespace {

void require(bool condition, const std::string& message) {
  if (!condition) throw std::invalid_argument("hockney::annealing: " + message);
}

void check_counts(const Options& options, int ranks) {
  require(options.walkers > 0 && options.steps > 0 && options.rounds > 0,
          "walkers, steps and rounds have to be positive");
  require(options.walkers >= ranks, "there are fewer walkers (" + std::to_string(options.walkers) +
                                        ") than ranks (" + std::to_string(ranks) + ")");
  const std::int64_t max_walkers =
      options.balance ? options.walkers - ranks + 1 : (options.walkers - 1) / ranks + 1;
  require(
      max_walkers * options.steps <= std::numeric_limits<int>::max(),
      "a rank makes more than 2^31 - 1 steps in a round, and the message of its accepted moves is an int");
  require(options.test_every >= 0, "test_every is negative");
  require(options.lag >= 0, "lag is negative");
  require(options.lead > 0, "lead is not positive");
}

void check_schedule(const Options& options) {
  require(std::isfinite(options.temperature) && options.temperature >= 0,
          "temperature is neither positive nor 0 (from a sample)");
  if (options.cooling == Cooling::geometric)
    require(options.factor > 0 && options.factor <= 1, "factor is not above 0 and at most 1");
  else
    require(std::isfinite(options.speed) && options.speed > 0, "speed is not positive");
  require(options.propose || options.cooling == Cooling::geometric,
          "without proposed moves there are no energies, so cooling has to be geometric");
}

void check_groups(const SetupInfo& setup, const Options& options, int ranks) {
  require(options.groups >= 0, "groups is negative");
  if (setup.communicates) {
    require(options.groups == 0, "groups are only for decoupled");
  } else {
    require(!options.balance, "balance is not possible in decoupled, where ranks do not communicate");
    require(options.groups == 0 || options.groups >= ranks, "there are fewer groups than ranks");
    require(options.groups <= options.walkers, "there are fewer walkers than groups");
  }
  // A variance needs two walkers; if the master computes one, single walkers on a rank suffice.
  const int blocks = setup.communicates ? 1 : options.groups > 0 ? options.groups : ranks;
  require(options.cooling == Cooling::geometric || options.walkers / blocks >= 2,
          setup.communicates ? "constant_speed needs at least two walkers"
                             : "constant_speed needs at least two walkers in each group");
}

}  // namespace

const SetupInfo& setup_named(const std::string& name) {
  std::string names;
  for (const SetupInfo* const setup : all_setups()) {
    if (name == setup->name) return *setup;
    names += std::string(names.empty() ? "" : ", ") + setup->name;
  }
  throw std::invalid_argument("hockney::annealing: there is no set-up '" + name + "', but: " + names);
}

void check(const SetupInfo& setup, const Options& options, int ranks) {
  check_counts(options, ranks);
  check_schedule(options);
  check_groups(setup, options, ranks);
  require(options.lag == 0 || setup.has_lag, std::string(setup.name) + " has no lag");
  if (setup.missing)
    throw std::runtime_error(std::string("hockney::annealing: the set-up ") + setup.name + " needs " +
                             setup.missing + ", which this MPI lacks");
}

std::vector<std::string> setup_names() {
  std::vector<std::string> names;
  for (const SetupInfo* const setup : all_setups()) names.emplace_back(setup->name);
  return names;
}

bool reproducible(const Options& options) {
  const SetupInfo& setup = setup_named(options.setup);
  if (!setup.communicates) return options.groups > 0;
  return !setup.on_arrival || (setup.has_lag && options.lag > 0);
}

}  // namespace hockney::annealing
