// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "ensemble/balancer.hpp"
#include "ensemble/messages.hpp"
#include "ensemble/part.hpp"

namespace hockney::annealing {

// The master's decisions. Statistics of round r lead to the schedule of round r + 1 + lag.
class Scheduler final {
 public:
  Scheduler(Part& part, int lag, int lead);

  // Returns the next schedule from the statistics of all ranks for the next round, if any round remains.
  std::optional<Schedule> next(const Statistics* all);

  Balancer& balancer() { return balancer_; }

 private:
  void record(const EnsembleSums& sums, double best, std::int64_t accepted);

  Part& part_;
  const int lag_;
  const int lead_;
  int round_ = 0;  // the next round to be scheduled from
  double best_;
  std::vector<double> temperatures_;  // by round
  Balancer balancer_;
};

}  // namespace hockney::annealing
