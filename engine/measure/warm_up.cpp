// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/warm_up.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/statistics.hpp"
#include "measure/stopping.hpp"
#include "measure/watchdog.hpp"

namespace hockney {

void WarmUp::run(Workload& workload, double until, double deadline) {
  double previous_s = INFINITY;
  bool is_settled = false;
  for (int index = 0;; ++index) {
    watchdog::set_phase(watchdog::warm_up, index);
    block_.count = is_settled ? 0 : affordable_repetitions(until, deadline);
    if (index == 0 && block_.count == 0) block_.batch = suitable_batch();
    control_.broadcast(block_);
    if (block_.count == 0) return;
    if (index == 0) sync_.start(block_.run_s);
    const double start_s = now();
    const std::vector<double> times = sync_.repeat(workload, block_.count, block_.batch, 0);
    if (!control_.root()) continue;
    times_.insert(times_.end(), times.begin(), times.end());
    series_s_ =
        now() - start_s - std::reduce(times.begin(), times.end()) * block_.batch * workload.operations();
    const double median_s = times.empty() ? 0.0 : median(times);
    block_.run_s = median_s * workload.operations();
    block_.batch = suitable_batch();
    is_settled = (median_s >= Method::settled_ratio * previous_s && index > 0) || now() >= until;
    previous_s = median_s;
  }
}

int WarmUp::suitable_batch() const {
  if (known_batch_ > 0) return known_batch_;
  return std::min(max_batch_, batch_for(block_.run_s, cost_));
}

// Number of repetitions in the next block: a full block, those still required, or two if the remaining time
// allows no more.
int WarmUp::affordable_repetitions(double until, double deadline) const {
  const int done = static_cast<int>(times_.size());
  const int remaining = max_repetitions_ - done;
  const double repetition_s = block_.run_s * block_.batch;
  if (until - now() > repetition_s * Method::warm_up_block) return std::min(Method::warm_up_block, remaining);
  if (done < min_repetitions_) return std::min(min_repetitions_ - done, remaining);
  if (deadline - now() > 5 * repetition_s) return std::min(2, remaining);
  return std::min(0, remaining);
}

}  // namespace hockney
