// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/compute.hpp"
#include "base/detours.hpp"
#include "base/invalid_case.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::noise {

// Base class of workloads in which every rank computes for a set duration, without messages, and observes
// what takes its core's time meanwhile, by equal portions of work or time: one value each. Runs that are no
// repetitions are short: they only warm up the core.
class Observer : public Workload {
 public:
  void repetitions_follow(long) override { is_observing_ = true; }
  void fill(const Payload&) override { is_observing_ = false; }
  std::optional<double> computing_s() const override { return duration_s_; }

  void run() final {
    run_count_ = count(is_observing_ ? duration_s_ : std::min(duration_s_, std::max(5e-3, duration_s_ / 50)));
    measure(std::span(values_).first(run_count_));
    has_run_ = true;
  }

  void sample(MetricValues& values) override {
    const Observation observation =
        std::exchange(has_run_, false) ? observe(std::span(values_).first(run_count_)) : Observation{};
    std::vector<double> starts, lengths;
    for (const Detour& detour : observation.detours) {
      starts.push_back(detour.start_s);
      lengths.push_back(detour.length_s);
    }
    values.set("observed", observation.observed_s);
    values.set("undisturbed", observation.undisturbed_s);
    values.set("lost", observation.lost_s);
    values.set_each("start", starts);
    values.set_each("detour", lengths);
  }

 protected:
  // Portions of `portion_s`, with steps of work that take `quantum_s`. `name` is that of the portions.
  Observer(double duration_s, double portion_s, double quantum_s, const char* name)
      : duration_s_(duration_s), portion_s_(portion_s), computing_(Computing::with_fixed_steps(quantum_s)) {
    if (std::string(computing_.clock()) == "asleep")
      throw InvalidCase("ranks that sleep instead of computing observe no noise");
    constexpr double max_count = 2e7;
    if (duration_s / portion_s > max_count)
      throw InvalidCase(std::string("more than 20 million ") + name + " do not fit in memory");
    values_.assign(count(duration_s), 0.0);  // touches the memory
  }

  double portion_s() const { return portion_s_; }
  void quantum() { computing_.run(); }

 private:
  // Sets the value of each portion of a run.
  virtual void measure(std::span<double> values) = 0;
  // What the last run observed.
  virtual Observation observe(std::span<const double> values) const = 0;

  std::size_t count(double seconds) const {
    return static_cast<std::size_t>(std::max(1.0, seconds / portion_s_));
  }

  const double duration_s_, portion_s_;
  Computing computing_;
  std::vector<double> values_;
  std::size_t run_count_ = 0;
  bool is_observing_ = false;
  bool has_run_ = false;
};

inline constexpr Parameter observe{"observe", Kind::real, "s", "1",
                                   0.01,      3600,       "",  "how long each rank computes, without noise"};

inline constexpr Metric metrics[] = {
    {.name = "observed",
     .unit = "s",
     .over_ranks = OverRanks::each,
     .per = Per::repetition,
     .help = "how long the rank observed its core"},
    {.name = "undisturbed",
     .unit = "s",
     .over_ranks = OverRanks::each,
     .per = Per::repetition,
     .help = "time of a quantum of work without detours, the median"},
    {.name = "lost",
     .unit = "s",
     .over_ranks = OverRanks::each,
     .per = Per::repetition,
     .help = "time lost in all detours"},
    {.name = "start",
     .unit = "s",
     .over_ranks = OverRanks::each,
     .per = Per::event,
     .help = "start of each detour, from the start of the repetition"},
    {.name = "detour",
     .unit = "s",
     .over_ranks = OverRanks::each,
     .per = Per::event,
     .help = "length of each detour, of the 4096 longest"},
};

}  // namespace hockney::noise
