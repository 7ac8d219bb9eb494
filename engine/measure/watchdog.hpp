// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace hockney {

// Ends a hang: if a case takes longer than allowed, every rank that can still respond prints the case and its
// position to standard error. It prints from a signal handler, since the rank itself is stuck in a call. A
// rank that prints nothing is the likely cause. There is one watchdog per process, as for signals. arm() and
// disarm() cost one system call each, outside the timed region.
namespace watchdog {

enum Phase { setup, warm_up, timing, decision, verification, waiting };

// `hang_s` seconds after `allowed_s` the handler prints its line; after another `hang_s` it ends the process
// with code 75. hang_s <= 0: no watchdog.
void arm(int rank, const std::string& case_line, double allowed_s, double hang_s);
void disarm();
void set_phase(Phase phase, long repetition = 0);

// Records the progress of a single long run, such as its iterations: `done` of `total`, since the call with
// 0. The printed line includes it, to show that a case which exceeds its time is slow, and how long a run
// takes.
void progress(long done, long total);

inline constexpr int exit_code = 75;  // EX_TEMPFAIL

}  // namespace watchdog
}  // namespace hockney
