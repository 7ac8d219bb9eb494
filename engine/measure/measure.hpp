// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measure/case_run.hpp"

namespace hockney {

// Measures the cases of a launch on the same ranks, buffers and clocks.
class Measurer {
 public:
  // `control` carries the steps around the measurement; `clock_cost` counts on rank 0.
  Measurer(const Place& place, const Comm& control, const ClockCost& clock_cost)
      : place_(place), control_(control), clock_cost_(clock_cost) {}

  // A case that is still to be visited. The measurer outlives it.
  CaseRun begin(const WorkloadInfo& info, const Values& values, const StopRule& rule) {
    return {info, values, rule, place_, control_, clock_cost_, clock_};
  }

  // Collective: a case in one visit. `started` is when it began on rank 0. Throws as CaseRun::visit() does.
  Measurement measure(const WorkloadInfo& info, const Values& values, const StopRule& rule, double started) {
    CaseRun run = begin(info, values, rule);
    run.visit({started + rule.budget_s, rule.max_repetitions, true});
    return run.finish();
  }

 private:
  const Place place_;
  const Comm& control_;
  const ClockCost clock_cost_;
  GlobalClock clock_;
};

}  // namespace hockney
