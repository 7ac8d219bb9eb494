// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

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
  // `preset_s` may be 0: nothing is consumed. Finding the pace takes some milliseconds.
  explicit Computing(double preset_s);

  void run();
  // Between measurements, not within them: takes some 20 us now and then where the work is short.
  void recheck();

  double preset_s() const { return preset_s_; }
  // How far what was consumed is from what was preset, relative, over all run() so far; for a short work as
  // recheck() saw it.
  double error() const;
  // Whose time is consumed: "thread", "wall" or "simulated".
  const char* clock() const;

 private:
  double read() const;
  void find_pace();
  void run_by_clock();
  void loop(std::uint64_t steps);

  double preset_s_;
  std::uint64_t state_ = 1;
  bool own_clock_ = true;
  double reading_s_ = 0;  // one reading of the clock
  double step_s_ = 0;     // one step of the loop
  double steps_ = 0;      // of a short work; 0: by the clock
  double checked_ = 0;    // when, by now()
  double consumed_s_ = 0;
  double wanted_s_ = 0;
};

}  // namespace hockney
