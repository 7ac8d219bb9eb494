// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/compute.hpp"
#include "measure/metrics.hpp"

// Metrics of a workload whose operation includes computing.
namespace hockney {

inline constexpr Metric computing_metrics[] = {
    {.name = "work", .unit = "s", .help = "preset processor time of the rank with the largest share"},
    {.name = "work_error", .help = "relative error of the consumed processor time, in the median repetition"},
    {.name = "imbalance", .help = "largest share of the parallel work divided by the mean share"},
};

inline void report_computing(MetricValues& values, Computing& computing, double imbalance = 1) {
  values.set("work", computing.preset_s());
  values.set("work_error", computing.error());
  values.set("imbalance", imbalance);
  values.label("work_clock", computing.clock());
}

}  // namespace hockney
