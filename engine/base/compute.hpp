// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace hockney {

// Computation of a preset duration: run() consumes a preset amount of the calling thread's processor time,
// including its own overhead. On an otherwise idle core, this is also its wall time.
// The computation is a loop in registers, without memory traffic, whose pace is measured. Shortly before the
// end, the thread's CPU clock, which stops while the thread is preempted, gives the time still to be
// consumed. If the preset is no longer than a few readings of that clock (a system call each), only the loop
// runs, at the pace that recheck() maintains. Without such a clock, MPI_Wtime is used. On a simulated machine
// the preset time passes; if waits_asleep(), the thread sleeps for that time.
class Computing {
 public:
  // `preset_s` may be 0: nothing is consumed. Measuring the pace takes some milliseconds. If
  // `use_thread_clock` is false, the thread's CPU clock is not used even if it exists.
  explicit Computing(double preset_s, bool use_thread_clock = true);

  // Returns a fixed amount of computation: every run() makes as many steps of the loop as take `preset_s` of
  // processor time at the pace measured now, so the wall time of run() reveals whatever slows it down.
  static Computing with_fixed_steps(double preset_s);

  // Runs for `factor` times the preset.
  void run(double factor = 1);
  // Updates the pace. Call it between measurements, not during them: with a short preset, it occasionally
  // takes about 20 us.
  void recheck();

  double preset_s() const { return preset_s_; }
  // Steps of a fixed amount of computation; 1 on a simulated machine or while sleeping.
  double steps() const { return steps_; }
  // Relative error of the consumed time: the median over the intervals between calls of recheck() or, for
  // short presets and fixed amounts, over the errors that recheck() measured.
  double error();
  // The clock that measures the consumed time: "thread", "wall" or "simulated"; "asleep" if none is consumed.
  const char* clock() const;

 private:
  double read() const;
  void find_pace();
  bool measure_pace(double steps);
  void run_by_clock(double seconds);
  void run_asleep(double seconds);
  void recheck_loop();
  void recheck_pace();
  void loop(std::uint64_t steps);
  double loop_time(double steps);

  double preset_s_;
  std::uint64_t state_ = 1;
  bool use_thread_clock_ = true;
  bool asleep_ = false;
  double reading_s_ = 0;  // of one reading of the clock
  double step_s_ = 0;     // of one step of the loop
  double steps_ = 0;      // for a short preset or a fixed amount; 0: by the clock
  bool fixed_ = false;
  double checked_ = 0;      // time of the last recheck(), by now()
  double consumed_s_ = 0;   // since recheck(), in runs by the clock
  double requested_s_ = 0;  // preset total of these runs
  std::vector<double> ratios_;
};

}  // namespace hockney
