// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/warm_up.hpp"

#include <algorithm>
#include <cmath>

#include "base/statistics.hpp"
#include "measure/stopping.hpp"
#include "measure/watchdog.hpp"

namespace hockney {

void WarmUp::run(Workload& workload, double until, double ends) {
  double before = INFINITY;
  bool enough = false;
  for (int index = 0;; ++index) {
    watchdog::at(watchdog::warm_up, index);
    block_.count = enough ? 0 : affordable(until, ends);
    if (index == 0 && block_.count == 0) block_.batch = fitting_batch();
    control_.broadcast(block_);
    if (block_.count == 0) return;
    if (index == 0) sync_.start(block_.run_s);
    const std::vector<double> times = sync_.repeat(workload, block_.count, block_.batch, 0);
    if (!control_.root()) continue;
    times_.insert(times_.end(), times.begin(), times.end());
    const double middle = times.empty() ? 0.0 : median(times);
    block_.run_s = middle * workload.operations();
    block_.batch = fitting_batch();
    enough = (middle >= Method::settled * before && index > 0) || now() >= until;
    before = middle;
  }
}

int WarmUp::fitting_batch() const {
  if (given_ > 0) return given_;
  return std::min(largest_, batch_for(block_.run_s, cost_));
}

// Repetitions in the next block: a full block, or those still required, or two if the remaining time allows
// no more.
int WarmUp::affordable(double until, double ends) const {
  const int done = static_cast<int>(times_.size());
  const int left = most_ - done;
  const double repetition_s = block_.run_s * block_.batch;
  if (until - now() > repetition_s * Method::warm_up_block) return std::min(Method::warm_up_block, left);
  if (done < fewest_) return std::min(fewest_ - done, left);
  if (ends - now() > 5 * repetition_s) return std::min(2, left);
  return std::min(0, left);
}

}  // namespace hockney
