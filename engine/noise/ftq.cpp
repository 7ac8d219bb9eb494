// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Fixed time quanta: the work done in each of many equal windows of time. The windows are samples at a fixed
// rate, as a spectrum requires (Sottile and Minnich, "Analysis of Microbenchmarks for Performance Tuning of
// Clusters", Cluster 2004).
#include "base/clock.hpp"
#include "noise/observer.hpp"

namespace hockney::noise {
namespace {

// Units of work in a window: more resolve shorter detours, but reading the clock after each takes time too.
constexpr double units_per_window = 200;

class FixedTime final : public Observer {
 public:
  FixedTime(const Place&, const Values& values)
      : Observer(values.real("observe"), values.real("slice"), values.real("slice") / units_per_window,
                 "windows") {}

 private:
  // Windows that have ended during a detour have no units.
  void measure(std::span<double> counts) override {
    const double start = now();
    double time = start;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const double end = start + static_cast<double>(i + 1) * portion_s();
      long units = 0;
      for (; time < end; time = now(), ++units) quantum();
      counts[i] = static_cast<double>(units);
    }
  }
  Observation observe(std::span<const double> counts) const override {
    return from_windows(counts, portion_s());
  }
};

constexpr Parameter ftq_parameters[] = {
    {"slice", Kind::real, "s", "0.0001", 1e-5, 1, "", "length of a window of time"},
    observe,
    parameters::sync_each,
};

}  // namespace

extern constinit const WorkloadInfo ftq{
    .name = "ftq",
    .role = "noise",
    .operation = "ftq",
    .size = "slice",
    .help = "fixed time quanta: each rank counts the work it does in equal windows of time, without messages",
    .time = "all windows, the maximum over the ranks",
    .timing = Timing::longest,
    .parameters = ftq_parameters,
    .metrics = metrics,
    .make = make<FixedTime>,
};

}  // namespace hockney::noise
