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

// Where the time of runs went.
struct Spent {
  double posting_s = 0;
  double computing_s = 0;
  double testing_s = 0;
  double waiting_s = 0;

  double total_s() const { return posting_s + computing_s + testing_s + waiting_s; }
};

// Computation in `tests` + 1 equal parts, between which something is called, made twice: while an operation
// proceeds, and alone. Each part is a fixed number of steps of a loop, chosen by their processor time, so
// that its wall time shows whatever slows it.
class Interleaved {
 public:
  Interleaved(double preset_s, std::int64_t tests)
      : tests_(tests), part_(Computing::of_steps(preset_s / static_cast<double>(tests + 1))) {}

  double preset_s() const { return part_.preset_s() * static_cast<double>(tests_ + 1); }

  // Not during a measurement.
  void recheck() { part_.recheck(); }

  // From `time`, a reading of the clock, to the one that is returned. Each interval between two readings
  // includes one.
  template <class Test>
  double run(double time, Spent& spent, Test test) {
    const auto until_now = [&time](double& into) {
      const double reading = now();
      into += reading - time;
      time = reading;
    };
    part_.run();
    until_now(spent.computing_s);
    for (std::int64_t i = 0; i < tests_; ++i) {
      test();
      until_now(spent.testing_s);
      part_.run();
      until_now(spent.computing_s);
    }
    return time;
  }

  // `count` times without the operation, with the same readings of the clock except one: the operation's own
  // time includes that.
  void run_alone(int count) {
    for (int i = 0; i < count; ++i) {
      const double time = run(now(), alone_, [] {});
      alone_.waiting_s += now() - time;
    }
  }

  // In one of `runs` runs alone, since the last sample.
  double cpu_s(double runs) const { return alone_.total_s() / runs; }

  // The metrics per repetition of meanwhile_metrics() for `runs` runs that spent `meanwhile`.
  void sample(MetricValues& values, const Spent& meanwhile, double runs) {
    const double steps = runs * part_.steps() * static_cast<double>(tests_ + 1);
    const double total_s = meanwhile.total_s();
    values.set("posting", meanwhile.posting_s);
    values.set("computing", meanwhile.computing_s);
    values.set("testing", meanwhile.testing_s);
    values.set("waiting", meanwhile.waiting_s);
    values.set("cpu", cpu_s(runs));
    values.set("alone", alone_.computing_s / runs);
    values.set("step", steps > 0 ? alone_.computing_s / steps : 0);
    values.set("availability", total_s > 0 ? 100 * alone_.total_s() / total_s : 0);
    values.set("stolen", alone_.computing_s > 0 ? 100 * (meanwhile.computing_s / alone_.computing_s - 1) : 0);
    alone_ = {};
  }

  // Those per record.
  void report(MetricValues& values) {
    values.set("work", preset_s());
    values.set("work_error", part_.error());
    values.label("work_clock", part_.clock());
  }

 private:
  const std::int64_t tests_;
  Computing part_;
  Spent alone_;  // since the last sample
};

// Of the rank whose time is the time of a repetition.
constexpr Metric of_timed(OverRanks timed, const char* name, const char* unit, const char* help,
                          bool phase = false) {
  return {name, unit, timed, Per::repetition, phase, help};
}

template <std::size_t more>
constexpr std::array<Metric, 11 + more> meanwhile_metrics(OverRanks timed, const Metric (&others)[more]) {
  std::array<Metric, 11 + more> all{{
      of_timed(timed, "posting", "s", "in the calls that start the communication", true),
      of_timed(timed, "computing", "s", "in the computation, without the calls in between", true),
      of_timed(timed, "testing", "s", "in the calls in between: MPI_Test", true),
      of_timed(timed, "waiting", "s", "in the call that ends the communication: MPI_Wait", true),
      of_timed(timed, "cpu", "s", "the computation without communication, just before: t_CPU of IMB"),
      of_timed(timed, "alone", "s", "of that, without the readings of the clock around MPI_Test"),
      of_timed(timed, "step", "s", "wall time of one step of the computation, without communication"),
      of_timed(timed, "availability", "%", "of the processor for the computation, as in COMB: cpu / time"),
      of_timed(timed, "stolen", "%",
               "by how much communication slows the computation: computing / alone - 1"),
      {.name = "work", .unit = "s", .help = "preset processor time of the computation, in the last visit"},
      {.name = "work_error", .help = "relative error of this preset time, in the median check"},
  }};
  std::copy(others, others + more, all.begin() + 11);
  return all;
}

}  // namespace hockney
