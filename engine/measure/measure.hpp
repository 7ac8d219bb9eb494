// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "comm/comm.hpp"
#include "comm/global_clock.hpp"
#include "measure/synchronise.hpp"
#include "measure/workload.hpp"

namespace hockney {

// When to stop repeating.
struct StopRule {
  double precision = 0.02;  // wanted half width of the median's 95% interval, relative
  double budget_s = 1.0;    // for the whole case: set-up, warm-up, repetitions, verification
  int max_repetitions = 20000;
  int most_warm_up = 320;  // repetitions
  double patience_s =
      std::numeric_limits<double>::infinity();  // beyond the budget, before a case counts as hung
};

struct Measurement {
  std::vector<double> times_s;   // one operation each, rank 0 only
  std::vector<double> warmup_s;  // before the times settled, rank 0 only
  int batch = 1;                 // operations between two readings of the clock
  const char* stop_reason = "repetitions";
  std::optional<double> achieved;
  std::optional<double> clock_error_s;  // on rank 0 the largest over the ranks
  long late = 0;
  std::uint64_t bytes_moved = 0;
  // On rank 0, combined over the ranks as each metric declares.
  std::vector<MetricSeries> metrics;
  std::map<std::string, std::string> labels;
  Check verified;  // summed over the ranks; `first`, on rank 0, from the lowest rank with a mismatch
};

// Collective over `control`: set the workload up at `place`, verify, warm up, repeat, verify again. `started`
// is when the case began on rank 0. Throws OutOfMemory on all ranks when one rank has not enough, Refusal
// when the ranks cannot meet a window, BrokenWorkload when its metrics are not those of `info`.
Measurement measure(const WorkloadInfo& info, const Values& values, const Place& place, const Comm& control,
                    GlobalClock& clock, const ClockCost& clock_cost, const StopRule& rule, double started);

}  // namespace hockney
