// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "comm/global_clock.hpp"
#include "measure/workload.hpp"

namespace hockney {

// How repetitions start, and the only loop that reads the clock around them.
//
//   none     The workload keeps its ranks in step itself. One reading of the clock ends a repetition and
//            starts the next, so that no time between them goes uncounted, and no barrier interferes. A
//            workload with metrics per repetition is sampled between them, with a second reading. If its
//            buffers are written between repetitions, each one starts after a barrier.
//   barrier  MPI_Barrier before each repetition; each rank times its own part. If MPI_Wtime is global,
//            ranks enter the barrier at the same moment.
//   window   All ranks wait for a moment of the global clock; the time runs from that moment to the end of
//            the slowest. A repetition is late, and dropped, when a rank was not ready at that moment.
//   loop     MPI_Barrier, then many operations back to back, whose time is divided by their number. One may
//            begin before the one before it has ended everywhere.
class Synchroniser {
 public:
  enum class Kind { none, barrier, window, loop };

  // `renews`: buffers of `arena` are written between repetitions, the same on all ranks.
  Synchroniser(Kind kind, const WorkloadInfo& info, Arena& arena, bool renews, const Comm& control,
               GlobalClock& clock)
      : kind_(kind),
        arena_(arena),
        renews_(renews),
        timing_(info.timing),
        control_(control),
        clock_(clock),
        samples_(info.metrics, control) {}

  static Kind kind_of(const Values& values);
  static const char* name(Kind kind);
  // The minimum number of runs per repetition.
  static int least_batch(Kind kind);

  // Collective, before the first repeat(): one repetition takes about `operation_s`, the same on all ranks.
  void start(double operation_s);

  // Collective: `count` repetitions of `batch` runs each. Returns on rank 0 the times of those that were not
  // late, in order, reduced as the timing requires and divided by batch * operations; empty elsewhere. The
  // workload's metrics per repetition are sampled between repetitions, outside their times.
  std::vector<double> repeat(Workload& workload, int count, int batch, long already);

  // On rank 0: the metrics per repetition, of all repetitions so far that were not late.
  std::vector<MetricSeries>& metrics() { return samples_.series(); }
  // On rank 0: number of repetitions dropped.
  long late() const { return late_; }
  // Whether times depend on the model of the global clock.
  bool needs_clock() const { return kind_ == Kind::window || by_global_clock(timing_); }
  // Collective: residual of the clock model; on rank 0 the largest over the ranks.
  double residual() const { return clock_.residual(control_); }

 private:
  std::vector<double> chained(Workload& workload, int count, int batch, long already);
  std::vector<double> after_barriers(Workload& workload, int count, int batch, long already);
  std::vector<double> between_ranks(Workload& workload, int count, long already);
  std::vector<double> in_windows(Workload& workload, int count, int batch, long already);

  // Before `count` runs.
  void prepare(Workload& workload, int count) {
    workload.prepare(count);
    arena_.renew(count);
  }

  Kind kind_;
  Arena& arena_;
  const bool renews_;
  Timing timing_;
  const Comm& control_;
  GlobalClock& clock_;
  MetricSamples samples_;
  // Rank 0's announcement of a row of windows, by the global clock.
  struct Row {
    double announced_at;
    double first;
    double width;
  };
  // Rank 0's announcement, on every rank.
  Row announced() const;

  int lead_in_ = 0;
  // On rank 0: the width of the next row's windows, and how long an announcement may take to reach all ranks.
  double window_s_ = 0;
  double announcement_s_ = 0;
  long late_ = 0;
};

}  // namespace hockney
