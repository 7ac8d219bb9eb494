// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "ensemble/balancer.hpp"
#include "ensemble/digest.hpp"
#include "ensemble/setup.hpp"

namespace hockney::annealing {
namespace {

// Walkers that have a schedule of their own.
struct Group {
  std::uint64_t number;
  std::size_t first;  // of this rank's walkers
  std::size_t count;
  double temperature;
};

std::vector<Group> groups_of(const Part& part) {
  const int all = part.options.groups > 0 ? part.options.groups : part.comm.size;
  const std::vector<int> on_ranks = equal_counts(all, part.comm.size);
  const std::vector<int> walkers = equal_counts(part.options.walkers, all);
  std::size_t number = 0;
  for (int rank = 0; rank < part.comm.rank; ++rank)
    number += static_cast<std::size_t>(on_ranks[static_cast<std::size_t>(rank)]);
  std::vector<Group> groups;
  std::size_t first = 0;
  for (int i = 0; i < on_ranks[static_cast<std::size_t>(part.comm.rank)]; ++i, ++number) {
    const auto count = static_cast<std::size_t>(walkers[number]);
    groups.push_back({number, first, count, part.initial_temperature});
    first += count;
  }
  return groups;
}

// Of this rank only; the sum of the energies instead of their mean. Run::report() puts the ranks together.
void record(Part& part, double temperature, std::int64_t accepted_before) {
  part.rounds.push_back({part.account.since_start(), temperature, part.walkers.best().energy,
                         part.sums(0, part.walkers.size()).energies, part.steps,
                         part.walkers.accepted() - accepted_before});
}

void run(Part& part) {
  std::vector<Group> groups = groups_of(part);
  for (int round = 0; round < part.options.rounds; ++round) {
    const std::int64_t accepted = part.walkers.accepted();
    const double temperature = groups.front().temperature;
    for (const Group& group : groups) {
      double present = group.temperature;
      for (std::size_t i = 0; i < group.count; ++i)
        part.advance(group.first + i, round, part.options.steps, present, [&] { return present; });
    }
    record(part, temperature, accepted);
    for (Group& group : groups) {
      part.schedule_digest += digest_of(group.number, static_cast<std::uint64_t>(round), group.temperature);
      const EnsembleSums sums = part.sums(group.first, group.count);
      if (!std::isfinite(sums.energies)) return;
      group.temperature *= cooling_factor(part.options, group.temperature, sums).value_or(1);
    }
  }
}

}  // namespace

extern constinit const SetupInfo decoupled{
    .name = "decoupled",
    .help = "no communication; every group of walkers has its own schedule",
    .communicates = false,
    .run = run};

}  // namespace hockney::annealing
