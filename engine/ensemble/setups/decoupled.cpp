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

// Walkers with a common schedule.
struct Group {
  std::uint64_t number;
  std::size_t first;  // of this rank's walkers
  std::size_t count;
  double temperature;
};

std::vector<Group> groups_of(const Part& part) {
  const int all = part.options.groups > 0 ? part.options.groups : part.comm.size;
  const std::vector<int> on_ranks = divide_evenly(all, part.comm.size);
  const std::vector<int> walkers = divide_evenly(part.options.walkers, all);
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

class Decoupled final : public Rounds {
 public:
  explicit Decoupled(Part& part) : part_(part), groups_(groups_of(part)) {}

  void run() override {
    for (int round = 0; round < part_.options.rounds; ++round) {
      const std::int64_t accepted = part_.walkers.accepted();
      for (const Group& group : groups_) compute(group, round);
      record(accepted);
      for (Group& group : groups_)
        if (!cool(group, round)) return;
    }
  }

 private:
  void compute(const Group& group, int round) {
    part_.advance(group.first, group.count, round, part_.options.steps, group.temperature,
                  [&] { return group.temperature; });
  }

  // Records this rank's round, with the sum of the energies instead of their mean; Run::report() combines the
  // ranks.
  void record(std::int64_t previous_accepted) {
    part_.steps_made_s.push_back(part_.account.since_start());
    part_.rounds.push_back({part_.steps_made_s.back(), groups_.front().temperature,
                            part_.walkers.best().energy, part_.sums(0, part_.walkers.size()).energies,
                            part_.steps, part_.walkers.accepted() - previous_accepted});
  }

  // Returns false if an energy is not finite.
  bool cool(Group& group, int round) {
    if (group.number == 0)  // the schedules of other groups are visible in the states
      part_.schedule_digest += digest_of(0, static_cast<std::uint64_t>(round), group.temperature);
    const EnsembleSums sums = part_.sums(group.first, group.count);
    if (!std::isfinite(sums.energies)) return false;
    group.temperature =
        next_temperature(part_.options, part_.initial_temperature, round + 1, group.temperature,
                         cooling_factor(part_.options, group.temperature, sums).value_or(1));
    return true;
  }

  Part& part_;
  std::vector<Group> groups_;
};

}  // namespace

extern constinit const SetupInfo decoupled{
    .name = "decoupled",
    .help = "no communication; every group of walkers has its own schedule",
    .communicates = false,
    .make = [](Part& part) -> std::unique_ptr<Rounds> { return std::make_unique<Decoupled>(part); }};

}  // namespace hockney::annealing
