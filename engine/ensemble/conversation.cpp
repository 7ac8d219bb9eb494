// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "ensemble/conversation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "ensemble/digest.hpp"
#include "ensemble/redistribution.hpp"

namespace hockney::annealing {
namespace {

std::size_t index_of(int round) {
  return static_cast<std::size_t>(round);
}

}  // namespace

Conversation::Conversation(Part& part, std::unique_ptr<Channel> channel, Timetable timetable)
    : part_(part),
      channel_(std::move(channel)),
      timetable_(timetable),
      scheduler_(part, timetable.lag, timetable.lead),
      planned_(part.options.rounds),
      rounds_(planned_),
      newest_(std::min(timetable.lag, planned_ - 1)),
      last_schedule_(planned_ - 1),
      schedules_(index_of(planned_)),
      factors_(index_of(planned_), 1.0),
      redistributions_(index_of(planned_)),
      owners_(owners_by_blocks(divide_evenly(part.options.walkers, part.comm.size))) {
  for (int round = 0; round <= newest_; ++round)
    schedules_[index_of(round)] = {
        temperature_without_statistics(part.options, part.initial_temperature, round), part.options.steps, 0};
}

void Conversation::run() {
  for (int round = 0; round < rounds_; ++round) {
    while (newest_ < round - timetable_.lead) receive_next(true);
    compute(round);
    end(round);
  }
  while (!has_received_all()) receive_next(true);
  {
    const Spending waiting(part_.account, Spent::waiting);
    channel_->finish();
  }
  if (!master()) return;
  for (int round = 0; round <= newest_; ++round)
    part_.schedule_digest += digest_of(0, index_of(round), schedules_[index_of(round)].temperature);
}

// Receives the next item, statistics on the master and a schedule elsewhere; returns false if it has not
// arrived.
bool Conversation::receive_next(bool wait) {
  if (has_received_all()) return false;
  const Spending spending(part_.account, wait ? Spent::waiting : Spent::testing);
  if (!master()) {
    const std::optional<Schedule> schedule = channel_->receive(wait);
    if (schedule) take(*schedule);
    return schedule.has_value();
  }
  const Statistics* const all = channel_->collect(wait);
  if (!all) return false;
  const Spending computing(part_.account, Spent::computation);
  ++collected_;
  const std::optional<Schedule> schedule = scheduler_.next(all);
  if (!schedule) return true;
  take(*schedule);
  const Spending posting(part_.account, Spent::posting);
  channel_->announce(*schedule);
  return true;
}

void Conversation::receive_available() {
  while (receive_next(false)) {
  }
}

void Conversation::take(const Schedule& schedule) {
  schedules_[index_of(++newest_)] = schedule;
  const int last = newest_ + timetable_.lead;
  if (schedule.flag & stop && last + 1 < rounds_) {
    rounds_ = last + 1;
    // Statistics of all rounds are answered, as planned.
    last_schedule_ = std::min(planned_ - 1, last + 1 + timetable_.lag);
    channel_->shorten(rounds_);
  }
  if (schedule.flag & redistribute) redistributions_[index_of(last)] = true;
}

// The newest schedule, extended by this rank's estimate.
double Conversation::temperature(int round) const {
  if (round > newest_ && part_.options.cooling == Cooling::geometric)
    return temperature_without_statistics(part_.options, part_.initial_temperature, round);
  double temperature = schedules_[index_of(std::min(round, newest_))].temperature;
  for (int i = newest_; i < round; ++i) temperature *= factors_[index_of(i)];
  return temperature;
}

void Conversation::compute(int round) {
  const int steps = schedules_[index_of(std::min(round, newest_))].steps;
  std::int64_t planned_steps = part_.steps;
  bool estimated = round > newest_;
  const auto count = [&] {
    if (estimated) part_.estimated_steps += part_.steps - planned_steps;
    planned_steps = part_.steps;
    estimated = round > newest_;
  };
  part_.advance(0, part_.walkers.size(), round, steps, temperature(round), [&] {
    receive_available();
    count();
    return temperature(round);
  });
  count();
}

void Conversation::end(int round) {
  const Statistics statistics = part_.statistics();
  if (timetable_.lead > 0) {
    const EnsembleSums sums{static_cast<int>(part_.walkers.size()), statistics.energies, statistics.squares};
    // The master's newest factor, if this rank has too few walkers for a variance.
    const double master_factor = newest_ > 0 ? schedules_[index_of(newest_)].temperature /
                                                   schedules_[index_of(newest_ - 1)].temperature
                                             : 1;
    factors_[index_of(round)] =
        std::isfinite(sums.energies)
            ? cooling_factor(part_.options, temperature(round), sums).value_or(master_factor)
            : 1;
  }
  {
    const Spending posting(part_.account, Spent::posting);
    channel_->give(statistics, round + 1 + timetable_.lag < planned_);
  }
  receive_available();
  if (redistributions_[index_of(round)]) redistribute_walkers();
}

void Conversation::redistribute_walkers() {
  const Spending balancing(part_.account, Spent::balancing);
  std::vector<int> counts(index_of(part_.comm.size));
  if (master()) counts = scheduler_.balancer().redistributed_counts();
  part_.comm.broadcast(counts.data(), counts.size() * sizeof(int));
  const std::vector<int> owners = redistribute_owners(owners_, counts);
  part_.walkers_sent += move_walkers(part_.walkers, owners_, owners, part_.comm);
  owners_ = owners;
}

}  // namespace hockney::annealing
