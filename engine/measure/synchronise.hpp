// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "comm/global_clock.hpp"
#include "measure/workload.hpp"

namespace hockney {

// How repetitions start. Contains the only loop that reads the clock around them.
//    none     The workload keeps its ranks in step. One reading of the clock ends a repetition and starts the
//             next, so that no time between them is lost, and no barrier interferes. A workload with metrics
//             per repetition is sampled in between, with a second reading. If its buffers are written between
//             repetitions, each repetition starts after a barrier.
//    barrier  MPI_Barrier before each repetition; each rank times its own part. If MPI_Wtime is global, ranks
//             enter the barrier at the same moment.
//    window   All ranks wait for a moment of the global clock; the time runs from that moment to the end of
//             the slowest rank. A repetition is late, and dropped, if a rank was not ready at that moment.
//    loop     MPI_Barrier, then many operations back to back, whose time is divided by their number. One may
//             begin before the previous one has ended on every rank.
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
  static int min_batch(Kind kind);

  // Prepares the first repeat(). Collective. One repetition takes about `operation_s`, the same on all ranks.
  void start(double operation_s);

  // Makes `count` repetitions of `batch` runs each. Collective. Returns on rank 0 the times of the
  // repetitions that were not late, in order, reduced as the timing requires and divided by batch *
  // operations; empty elsewhere. Samples the workload's metrics per repetition between repetitions, outside
  // their times.
  std::vector<double> repeat(Workload& workload, int count, int batch, long previous_repetitions);

  // On rank 0: the metrics per repetition, for all repetitions so far that were not late.
  std::vector<MetricSeries>& metrics() { return samples_.series(); }
  // On rank 0: number of repetitions dropped.
  long late_count() const { return late_count_; }
  // Whether times depend on the model of the global clock.
  bool needs_clock() const { return kind_ == Kind::window || by_global_clock(timing_); }
  // Residual of the clock model; on rank 0 the maximum over the ranks. Collective.
  double residual() const { return clock_.residual(control_); }

 private:
  std::vector<double> repeat_chained(Workload& workload, int count, int batch, long previous_repetitions);
  std::vector<double> repeat_after_barriers(Workload& workload, int count, int batch,
                                            long previous_repetitions);
  std::vector<double> repeat_between_ranks(Workload& workload, int count, long previous_repetitions);
  std::vector<double> repeat_in_windows(Workload& workload, int count, int batch, long previous_repetitions);

  // Prepares `count` runs.
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
  // Rank 0's announcement of a series of windows, by the global clock.
  struct WindowSeries {
    double announcement_time;
    double first;
    double width;
  };
  // Distributes rank 0's announcement to every rank.
  WindowSeries announce_windows() const;

  int lead_in_ = 0;
  // On rank 0: the width of the next series' windows, and the time that an announcement may take to reach all
  // ranks.
  double window_s_ = 0;
  double announcement_s_ = 0;
  long late_count_ = 0;
};

}  // namespace hockney
