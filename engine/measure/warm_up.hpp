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
  // `first_s`: time of the first, cold run(), or an earlier estimate. `most`: maximum repetitions. `largest`:
  // batch. `given`: the batch if known; 0 to determine it. `fewest`: repetitions made even if the time is up.
  WarmUp(Synchroniser& sync, const Comm& control, const ClockCost& cost, double first_s, int most,
         int largest, int given = 0, int fewest = 0)
      : sync_(sync),
        control_(control),
        cost_(cost),
        most_(most),
        fewest_(fewest),
        largest_(largest),
        given_(given),
        block_{0, std::max(1, given), first_s} {}

  // `until` and `ends`: rank 0's clock. On rank 0 times() has all repetitions. If a few runs would use up the
  // time and none are required, the verified one is the only warm-up.
  void run(Workload& workload, double until, double ends);

  const std::vector<double>& times() const { return times_; }
  // On every rank, after run(): the last block's median time of one run(), and the number of runs per
  // repetition.
  double run_s() const { return block_.run_s; }
  int batch() const { return block_.batch; }

 private:
  // What rank 0 announces before each block.
  struct Block {
    int count;
    int batch;
    double run_s;
  };

  int fitting_batch() const;
  int affordable(double until, double ends) const;

  Synchroniser& sync_;
  const Comm& control_;
  const ClockCost& cost_;
  const int most_;
  const int fewest_;
  const int largest_;
  const int given_;
  std::vector<double> times_;
  Block block_;
};

}  // namespace hockney
