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

#include "base/waits.hpp"
#endif

namespace hockney {

// Time in seconds. Always MPI_Wtime: on a simulated machine it returns simulated time, unlike std::chrono.
inline double now() {
  return MPI_Wtime();
}

// Seconds since 1970, or since the start of the simulation. Only for dates, not for measurements. May be
// called before MPI_Init.
inline double date() {
#ifdef HOCKNEY_SMPI
  return MPI_Wtime();
#else
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
#endif
}

// Waits until now() reaches `moment`, without communication. Keeps this processor busy unless waits_asleep().
// Simulated time does not advance while a rank computes, so a simulated rank sleeps until other ranks have
// advanced the clock.
inline void wait_until(double moment) {
#ifdef HOCKNEY_SMPI
  if (now() < moment) sg_actor_sleep_until(moment);
#else
  while (now() < moment) {
    if (waits_asleep()) sleep_for(moment - now());
  }
#endif
}

// Waits for `seconds`, as between the messages of PRTT(n, d, s).
inline void spin(double seconds) {
  if (seconds > 0) wait_until(now() + seconds);
}

#ifdef HOCKNEY_SMPI
// Computes for `seconds` of simulated time, or longer if messages take the processor's time meanwhile.
// Defined in engine/smpi/processor.cpp.
void pass(double seconds);
#endif

struct ClockCost {
  double overhead_s;    // of one call, averaged over many
  double resolution_s;  // smallest positive difference between successive readings
};

// Measures the clock in about a millisecond. Both costs are 0 on a clock that only advances during
// communication, such as a simulator's.
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
