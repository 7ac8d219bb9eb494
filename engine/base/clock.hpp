// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <limits>

namespace hockney {

// Seconds. MPI_Wtime and nothing else: on a simulated machine it is the simulated time, std::chrono is not.
inline double now() {
  return MPI_Wtime();
}

struct ClockCost {
  double overhead_s;    // one call, averaged over many
  double resolution_s;  // smallest positive difference of two successive readings
};

// Takes about a millisecond. On a clock that stands still while nobody communicates (a simulator's), both are
// 0.
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

// Keeps this processor busy for `seconds`, without communication. Needed between the messages of PRTT(n, d,
// s).
inline void spin(double seconds) {
  if (seconds <= 0) return;
  const double end = now() + seconds;
  while (now() < end) {
  }
}

}  // namespace hockney
