// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace hockney {

// A piece of work: run() consumes a preset amount of the calling thread's processor time, its own cost
// included, so that on a core that nothing disturbs it also takes just as long by the clock on the wall.
//
// It is a loop in registers, without memory traffic, at a pace that is measured. The thread's own clock,
// which stands still while the thread has no processor, tells shortly before the end what is missing. A work
// of no more than a few readings of that clock (a system call each) is the loop alone, whose pace recheck()
// follows. Where there is no such clock it is MPI_Wtime; on a simulated machine the preset time passes.
class Computing {
 public:
  // `preset_s` may be 0: nothing is consumed. Finding the pace takes some milliseconds. Without `own_clock`
  // it does as where a thread has none.
  explicit Computing(double preset_s, bool own_clock = true);

  void run();
  // Between measurements, not within them: takes some 20 us now and then where the work is short.
  void recheck();

  double preset_s() const { return preset_s_; }
  // By which fraction what was consumed differs from what was preset: in the median of the stretches between
  // two recheck(), of a short work in the median of what recheck() saw itself.
  double error();
  // Whose time is consumed: "thread", "wall" or "simulated".
  const char* clock() const;

 private:
  double read() const;
  void find_pace();
  bool paced(double steps);
  void run_by_clock();
  void recheck_loop();
  void loop(std::uint64_t steps);
  double loop_time(double steps);

  double preset_s_;
  std::uint64_t state_ = 1;
  bool own_clock_ = true;
  double reading_s_ = 0;   // one reading of the clock
  double step_s_ = 0;      // one step of the loop
  double steps_ = 0;       // of a short work; 0: by the clock
  double checked_ = 0;     // when, by now()
  double consumed_s_ = 0;  // since recheck(), in `runs_` runs by the clock
  long runs_ = 0;
  std::vector<double> ratios_;
};

}  // namespace hockney
