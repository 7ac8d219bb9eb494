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
      : Observer(values.real("observe"), values.real("slice") / units_per_window),
        window_s_(values.real("slice")) {
    check_count(values.real("observe"), window_s_, "windows");
    counts_.assign(static_cast<std::size_t>(std::max(1.0, values.real("observe") / window_s_)), 0.0);
  }

  // Windows that have ended during a detour have no units.
  void run() override {
    const std::size_t windows = std::min(count(window_s_), counts_.size());
    const double start = now();
    double time = start;
    for (std::size_t i = 0; i < windows; ++i) {
      const double end = start + static_cast<double>(i + 1) * window_s_;
      long units = 0;
      for (; time < end; time = now(), ++units) quantum();
      counts_[i] = static_cast<double>(units);
    }
    windows_ = windows;
    finish();
  }

 private:
  Observation observe() const override {
    const auto end = counts_.begin() + static_cast<std::ptrdiff_t>(windows_);
    return from_windows({counts_.begin(), end}, window_s_);
  }

  const double window_s_;
  std::vector<double> counts_;
  std::size_t windows_ = 0;
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
