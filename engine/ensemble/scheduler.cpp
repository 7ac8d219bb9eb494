// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "ensemble/scheduler.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace hockney::annealing {

Scheduler::Scheduler(Part& part, int lag, int lead)
    : part_(part),
      lag_(lag),
      lead_(lead),
      best_(std::numeric_limits<double>::infinity()),
      balancer_(part.options.walkers, part.comm.size) {
  for (int round = 0; round <= lag; ++round)
    temperatures_.push_back(temperature_without_statistics(part.options, part.initial_temperature, round));
}

std::optional<Schedule> Scheduler::next(const Statistics* all) {
  const Options& options = part_.options;
  EnsembleSums sums{.walkers = options.walkers};
  std::int64_t accepted = 0;
  for (int rank = 0; rank < part_.comm.size; ++rank) {
    sums.energies += all[rank].energies;
    sums.squares += all[rank].squares;
    best_ = std::min(best_, all[rank].best);
    accepted += all[rank].accepted;
  }
  record(sums, best_, accepted);
  const int round = round_++;
  if (round + 1 + lag_ >= options.rounds) return std::nullopt;
  const bool finite = std::isfinite(sums.energies);
  double factor = 1;
  if (finite) {
    const double measured_at = temperatures_[static_cast<std::size_t>(round)];
    factor = cooling_factor(options, measured_at, sums).value_or(1);
  }
  temperatures_.push_back(
      next_temperature(options, part_.initial_temperature, round + 1 + lag_, temperatures_.back(), factor));
  Schedule schedule{temperatures_.back(), options.steps, finite ? 0 : stop};
  if (options.balance) {
    balancer_.add(round, all);
    const int last = round + 1 + lag_ + lead_;
    if (finite && last + 1 < options.rounds && balancer_.recommends_redistribution()) {
      schedule.flag |= redistribute;
      balancer_.set_pending(last);
    }
  }
  return schedule;
}

void Scheduler::record(const EnsembleSums& sums, double best, std::int64_t accepted) {
  const std::int64_t steps = static_cast<std::int64_t>(part_.options.steps) * sums.walkers;
  const std::int64_t before = part_.rounds.empty() ? 0 : part_.rounds.back().steps;
  part_.rounds.push_back({part_.account.since_start(), temperatures_[static_cast<std::size_t>(round_)], best,
                          sums.mean(), before + steps, accepted});
}

}  // namespace hockney::annealing
