// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "ensemble/channel.hpp"
#include "ensemble/part.hpp"
#include "ensemble/scheduler.hpp"
#include "ensemble/setup.hpp"

namespace hockney::annealing {

// When a rank uses a schedule. Statistics of round r lead to the schedule of round r + 1 + lag. A rank begins
// a round if it has the schedule of the round `lead` rounds earlier; 0 means the round's own schedule. Until
// a round's own schedule arrives, a rank that leads extends the newest schedule by its own estimate.
struct Timetable {
  int lag = 0;
  int lead = 0;
};

// Maximum number of rounds for which messages can be in flight between two ranks.
constexpr int depth(Timetable timetable) {
  return timetable.lag + timetable.lead + 2;
}

// For set-ups that use schedules on arrival without a lag, and otherwise with this lag.
inline Timetable on_arrival(const Options& options) {
  return options.lag > 0 ? Timetable{.lag = options.lag}
                         : Timetable{.lead = std::min(options.lead, options.rounds)};
}

// The rounds of a rank that exchanges messages with other ranks.
class Conversation final : public Rounds {
 public:
  Conversation(Part& part, std::unique_ptr<Channel> channel, Timetable timetable);

  void run() override;

 private:
  bool master() const { return part_.comm.root(); }
  bool has_received_all() const { return master() ? collected_ == rounds_ : newest_ == last_schedule_; }
  bool receive_next(bool wait);
  void receive_available();
  void take(const Schedule& schedule);
  double temperature(int round) const;
  void compute(int round);
  void end(int round);
  void redistribute_walkers();

  Part& part_;
  const std::unique_ptr<Channel> channel_;
  const Timetable timetable_;
  Scheduler scheduler_;
  const int planned_;
  int rounds_;                         // fewer than planned if an energy is not finite
  int newest_;                         // round of the newest schedule on this rank
  int last_schedule_;                  // round of the last schedule that it will receive
  int collected_ = 0;                  // number of rounds whose statistics the master has collected
  std::vector<Schedule> schedules_;    // by round
  std::vector<double> factors_;        // temperature factor after each round, by this rank's estimate
  std::vector<bool> redistributions_;  // whether walkers are redistributed after each round
  std::vector<int> owners_;            // the rank of each walker
};

}  // namespace hockney::annealing
