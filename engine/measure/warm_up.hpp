// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "base/clock.hpp"
#include "comm/comm.hpp"
#include "measure/synchronise.hpp"
#include "measure/workload.hpp"

namespace hockney {

// Repeats in blocks until the times no longer fall, and derives the batch from them. Collective; rank 0
// decides.
class WarmUp {
 public:
  // `first_s`: time of the first, cold run(), or an earlier estimate. `known_batch`: 0 to determine the
  // batch. `min_repetitions`: repetitions made even if the time is up.
  WarmUp(Synchroniser& sync, const Comm& control, const ClockCost& cost, double first_s, int max_repetitions,
         int max_batch, int known_batch = 0, int min_repetitions = 0)
      : sync_(sync),
        control_(control),
        cost_(cost),
        max_repetitions_(max_repetitions),
        min_repetitions_(min_repetitions),
        max_batch_(max_batch),
        known_batch_(known_batch),
        block_{0, std::max(1, known_batch), first_s} {}

  // `until` and `deadline` are times of rank 0's clock. On rank 0, times() contains all repetitions. If a few
  // runs would use up the time and none are required, the verified run is the only warm-up.
  void run(Workload& workload, double until, double deadline);

  const std::vector<double>& times() const { return times_; }
  // On every rank, after run(): the last block's median time of one run(), and the number of runs per
  // repetition.
  double run_s() const { return block_.run_s; }
  int batch() const { return block_.batch; }
  // On rank 0: seconds of the last block beyond its repetitions, in which its series started and ended.
  double series_s() const { return series_s_; }

 private:
  // Rank 0's announcement before each block.
  struct Block {
    int count;
    int batch;
    double run_s;
  };

  int suitable_batch() const;
  int affordable_repetitions(double until, double deadline) const;

  Synchroniser& sync_;
  const Comm& control_;
  const ClockCost& cost_;
  const int max_repetitions_;
  const int min_repetitions_;
  const int max_batch_;
  const int known_batch_;
  std::vector<double> times_;
  double series_s_ = 0;
  Block block_;
};

}  // namespace hockney
