// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measure/case_run.hpp"

namespace hockney {

// Measures the cases of a launch on the same ranks, buffers and clocks.
class Measurer {
 public:
  // `control` is used for the steps around the measurement; `clock_cost` is only read on rank 0.
  Measurer(const Place& place, const Comm& control, const ClockCost& clock_cost)
      : place_(place), control_(control), clock_cost_(clock_cost) {}

  // Prepares a case for its visits. The measurer must outlive it.
  CaseRun begin(const WorkloadInfo& info, const Values& values, const StopRule& rule) {
    return {info, values, rule, place_, control_, clock_cost_, clock_};
  }

  // Measures a case in one visit. Collective. `started` is its start time on rank 0. Throws like
  // CaseRun::visit().
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
