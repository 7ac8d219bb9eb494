// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace hockney {

// A piece of work: run() consumes a preset amount of the calling thread's processor time, including its own
// overhead, so that on an otherwise idle core it also takes exactly that long in wall time.
//
// It is a loop in registers, without memory traffic, whose pace is measured. Shortly before the end the
// thread's CPU clock, which stops while the thread is preempted, gives the time still to be consumed. Work no
// longer than a few readings of that clock (a system call each) is the loop alone, with the pace that
// recheck() maintains. Without such a clock MPI_Wtime is used; on a simulated machine the preset time passes,
// and if waits_asleep() the thread sleeps that long.
class Computing {
 public:
  // `preset_s` may be 0: nothing is consumed. Measuring the pace takes some milliseconds. Without `own_clock`
  // the thread clock is not used even if there is one.
  explicit Computing(double preset_s, bool own_clock = true);

  // A fixed amount of work instead: every run() makes as many steps of the loop as take `preset_s` of
  // processor time according to the pace found now. So the wall time of run() shows whatever slows it.
  static Computing of_steps(double preset_s);

  // With a factor, that many times the preset.
  void run(double factor = 1);
  // Call it between measurements, not during them: if the work is short, it occasionally takes some 20 us.
  void recheck();

  double preset_s() const { return preset_s_; }
  // Of a fixed amount of work, which is a single step on a simulated machine or asleep.
  double steps() const { return steps_; }
  // Relative error of the consumed time: the median over the intervals between calls of recheck() or, for
  // short work and fixed amounts, over the errors that recheck() measured.
  double error();
  // Which clock measures the consumed time: "thread", "wall" or "simulated"; "asleep" if none is consumed.
  const char* clock() const;

 private:
  double read() const;
  void find_pace();
  bool paced(double steps);
  void run_by_clock(double seconds);
  void run_asleep(double seconds);
  void recheck_loop();
  void recheck_pace();
  void loop(std::uint64_t steps);
  double loop_time(double steps);

  double preset_s_;
  std::uint64_t state_ = 1;
  bool own_clock_ = true;
  bool asleep_ = false;
  double reading_s_ = 0;  // one reading of the clock
  double step_s_ = 0;     // one step of the loop
  double steps_ = 0;      // of short work or a fixed amount; 0: by the clock
  bool fixed_ = false;
  double checked_ = 0;     // when, according to now()
  double consumed_s_ = 0;  // since recheck(), in runs by the clock
  double asked_s_ = 0;     // of these runs
  std::vector<double> ratios_;
};

}  // namespace hockney
