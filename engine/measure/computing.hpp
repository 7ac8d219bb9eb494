// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/compute.hpp"
#include "measure/metrics.hpp"

// What a workload reports whose operation includes computing.
namespace hockney {

inline constexpr Metric computing_metrics[] = {
    {.name = "work", .unit = "s", .help = "processor time that the rank with most of it was to consume"},
    {.name = "work_error", .help = "by which fraction the ranks missed that time, in the median repetition"},
    {.name = "imbalance", .help = "the largest rank's part of the parallel work over the mean part"},
};

inline void report_computing(MetricValues& values, Computing& computing, double imbalance = 1) {
  values.set("work", computing.preset_s());
  values.set("work_error", computing.error());
  values.set("imbalance", imbalance);
  values.label("work_clock", computing.clock());
}

}  // namespace hockney
