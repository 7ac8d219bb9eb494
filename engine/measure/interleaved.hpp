// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/clock.hpp"
#include "base/compute.hpp"
#include "measure/metrics.hpp"

namespace hockney {

// Time spent in each phase of the runs, in seconds.
struct PhaseTimes {
  double posting_s = 0;
  double computing_s = 0;
  double testing_s = 0;
  double waiting_s = 0;

  double total_s() const { return posting_s + computing_s + testing_s + waiting_s; }
};

// Computation in `tests` + 1 equal parts, with a call between consecutive parts. It runs twice: while an
// operation proceeds, and alone. Each part is a fixed number of steps of a loop, chosen by their processor
// time, so its wall time reveals whatever slows it down.
class Interleaved {
 public:
  Interleaved(double preset_s, std::int64_t tests)
      : tests_(tests), part_(Computing::with_fixed_steps(preset_s / static_cast<double>(tests + 1))) {}

  double preset_s() const { return part_.preset_s() * static_cast<double>(tests_ + 1); }

  // Updates the pace; must not be called during a measurement.
  void recheck() { part_.recheck(); }

  // Runs the parts and tests. `time` is the previous reading of the clock; the last reading is returned. Each
  // interval between two readings includes the cost of one reading.
  template <class Test>
  double run(double time, PhaseTimes& spent, Test test) {
    const auto add_elapsed = [&time](double& target) {
      const double reading = now();
      target += reading - time;
      time = reading;
    };
    part_.run();
    add_elapsed(spent.computing_s);
    for (std::int64_t i = 0; i < tests_; ++i) {
      test();
      add_elapsed(spent.testing_s);
      part_.run();
      add_elapsed(spent.computing_s);
    }
    return time;
  }

  // Runs `count` times without the operation, with the same readings of the clock except one, which is
  // included in the operation's own time.
  void run_alone(int count) {
    for (int i = 0; i < count; ++i) {
      const double time = run(now(), alone_times_, [] {});
      alone_times_.waiting_s += now() - time;
    }
  }

  // Processor time of a run alone, in seconds: the mean over `runs` runs since the last sample.
  double cpu_s(double runs) const { return alone_times_.total_s() / runs; }

  // Sets the metrics per repetition of concurrent_metrics() for `runs` runs that spent `concurrent`.
  void sample(MetricValues& values, const PhaseTimes& concurrent, double runs) {
    const double steps = runs * part_.steps() * static_cast<double>(tests_ + 1);
    const double total_s = concurrent.total_s();
    values.set("posting", concurrent.posting_s);
    values.set("computing", concurrent.computing_s);
    values.set("testing", concurrent.testing_s);
    values.set("waiting", concurrent.waiting_s);
    values.set("cpu", cpu_s(runs));
    values.set("alone", alone_times_.computing_s / runs);
    values.set("step", steps > 0 ? alone_times_.computing_s / steps : 0);
    values.set("availability", total_s > 0 ? 100 * alone_times_.total_s() / total_s : 0);
    values.set("stolen", alone_times_.computing_s > 0
                             ? 100 * (concurrent.computing_s / alone_times_.computing_s - 1)
                             : 0);
    alone_times_ = {};
  }

  // Sets the metrics per record.
  void report(MetricValues& values) {
    values.set("work", preset_s());
    values.set("work_error", part_.error());
    values.label("work_clock", part_.clock());
  }

 private:
  const std::int64_t tests_;
  Computing part_;
  PhaseTimes alone_times_;  // since the last sample
};

// A metric of the rank whose time is the repetition's time.
constexpr Metric timed_rank_metric(OverRanks timed, const char* name, const char* unit, const char* help,
                                   bool phase = false) {
  return {name, unit, timed, Per::repetition, phase, help};
}

template <std::size_t extra_count>
constexpr std::array<Metric, 11 + extra_count> concurrent_metrics(
    OverRanks timed, const Metric (&extra_metrics)[extra_count]) {
  std::array<Metric, 11 + extra_count> all{{
      timed_rank_metric(timed, "posting", "s", "in the calls that start the communication", true),
      timed_rank_metric(timed, "computing", "s", "in the computation, without the calls in between", true),
      timed_rank_metric(timed, "testing", "s", "in the calls in between: MPI_Test", true),
      timed_rank_metric(timed, "waiting", "s", "in the call that ends the communication: MPI_Wait", true),
      timed_rank_metric(timed, "cpu", "s",
                        "the computation without communication, just before: t_CPU of IMB"),
      timed_rank_metric(timed, "alone", "s", "of that, without the readings of the clock around MPI_Test"),
      timed_rank_metric(timed, "step", "s",
                        "wall time of one step of the computation, without communication"),
      timed_rank_metric(timed, "availability", "%",
                        "of the processor for the computation, as in COMB: cpu / time"),
      timed_rank_metric(timed, "stolen", "%",
                        "by how much communication slows the computation: computing / alone - 1"),
      {.name = "work", .unit = "s", .help = "preset processor time of the computation, in the last visit"},
      {.name = "work_error", .help = "relative error of this preset time, in the median check"},
  }};
  std::copy(extra_metrics, extra_metrics + extra_count, all.begin() + 11);
  return all;
}

}  // namespace hockney
