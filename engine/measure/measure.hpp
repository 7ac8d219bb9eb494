// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "comm/comm.hpp"
#include "comm/global_clock.hpp"
#include "measure/stopping.hpp"
#include "measure/synchronise.hpp"
#include "measure/workload.hpp"

namespace hockney {

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

class WarmUp;

// Measures one case after the other on the same ranks, buffers and clocks.
class Measurer {
 public:
  // `control` carries the steps around the measurement; `clock_cost` counts on rank 0.
  Measurer(const Place& place, const Comm& control, const ClockCost& clock_cost)
      : place_(place), control_(control), clock_cost_(clock_cost) {}

  // Collective: set the workload up, verify, warm up, repeat, verify again. `started` is when the case began
  // on rank 0. Throws, alike on all ranks, OutOfMemory when one rank has not enough, InvalidCase when the
  // ranks cannot meet a window, BrokenWorkload when the metrics are not those that `info` declares.
  Measurement measure(const WorkloadInfo& info, const Values& values, const StopRule& rule, double started);

 private:
  void repeat(Workload& workload, Synchroniser& sync, const StopRule& rule, int runs, const WarmUp& warm_up,
              double ends, Measurement& result);

  const Place place_;
  const Comm& control_;
  const ClockCost clock_cost_;
  GlobalClock clock_;
};

}  // namespace hockney
