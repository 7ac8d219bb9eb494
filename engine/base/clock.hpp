// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <limits>

#ifdef HOCKNEY_SMPI
#include <simgrid/actor.h>
#else
#include <chrono>
#endif

namespace hockney {

// Seconds. MPI_Wtime and nothing else: on a simulated machine it is the simulated time, std::chrono is not.
inline double now() {
  return MPI_Wtime();
}

// Seconds since 1970, or since the start of the simulation: it
// dates, it does not measure. Before MPI_Init too.
inline double date() {
#ifdef HOCKNEY_SMPI
  return MPI_Wtime();
#else
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
#endif
}

// Returns when now() has come to `moment`, without communication, keeping this
// processor busy. A simulated clock stands still while a rank computes, so a
// rank must sleep there until others have taken the time forward.
inline void wait_until(double moment) {
#ifdef HOCKNEY_SMPI
  if (now() < moment) sg_actor_sleep_until(moment);
#else
  while (now() < moment) {
  }
#endif
}

// Keeps this processor busy for `seconds`. Needed between the messages of PRTT(n, d, s).
inline void spin(double seconds) {
  if (seconds > 0) wait_until(now() + seconds);
}

#ifdef HOCKNEY_SMPI
// Lets `seconds` of simulated time pass, as computing does.
inline void pass(double seconds) {
  if (seconds > 0) sg_actor_sleep_for(seconds);
}
#endif

struct ClockCost {
  double overhead_s;    // one call, averaged over many
  double resolution_s;  // smallest positive difference of two successive readings
};

// Takes about a millisecond. On a clock that stands still
// while nobody communicates (a simulator's), both are 0.
inline ClockCost measure_clock() {
  constexpr int calls = 4000;
  const double start = now();
  double last = start;
  double step = std::numeric_limits<double>::infinity();
  for (int i = 0; i < calls; ++i) {
    const double time = now();
    if (time > last) step = std::min(step, time - last);
    last = time;
  }
  return {(last - start) / calls, step == std::numeric_limits<double>::infinity() ? 0.0 : step};
}

}  // namespace hockney
