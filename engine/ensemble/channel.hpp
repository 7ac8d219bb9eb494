// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "ensemble/messages.hpp"

namespace hockney::annealing {

// Transports schedules and statistics, both in order. Every rank gives its statistics once per round. The
// master (rank 0) collects them round by round, and announces one schedule for each round that is answered;
// the other ranks receive every schedule.
class Channel {
 public:
  virtual ~Channel() = default;
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Gives this rank's statistics of the next round. `answered`: the master will announce a schedule for it.
  virtual void give(const Statistics& statistics, bool answered) = 0;
  // On the master: the statistics of all ranks for the next round, by rank. Null if they have not arrived,
  // which is impossible with `wait`.
  virtual const Statistics* collect(bool wait) = 0;
  // On the master: sends the next schedule to all other ranks.
  virtual void announce(const Schedule& schedule) = 0;
  // On the other ranks: the next schedule.
  virtual std::optional<Schedule> receive(bool wait) = 0;
  // Reduces the number of rounds.
  virtual void shorten([[maybe_unused]] int rounds) {}
  // Completes this rank's sends, after the other ranks' last calls.
  virtual void finish() {}
};

}  // namespace hockney::annealing
