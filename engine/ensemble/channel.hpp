// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "ensemble/messages.hpp"

namespace hockney::annealing {

// How schedules and statistics travel. Both arrive in order: every rank gives its statistics once in a round,
// the master (rank 0) collects them round by round and announces one schedule for each that is answered, and
// the other ranks receive every schedule.
class Channel {
 public:
  virtual ~Channel() = default;
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // This rank's statistics of the next round. `answered`: the master will announce a schedule for it.
  virtual void give(const Statistics& statistics, bool answered) = 0;
  // On the master: the statistics of all ranks of the next round, by rank; null if they are not there yet,
  // which does not happen if it waits for them.
  virtual const Statistics* collect(bool wait) = 0;
  // On the master: the next schedule for all other ranks.
  virtual void announce(const Schedule& schedule) = 0;
  // On the other ranks: the next schedule.
  virtual std::optional<Schedule> receive(bool wait) = 0;
  // There will be only this many rounds.
  virtual void shorten([[maybe_unused]] int rounds) {}
  // Completes what this rank has sent, after the last call of the others.
  virtual void finish() {}
};

}  // namespace hockney::annealing
