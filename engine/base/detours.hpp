// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hockney {

// A time of which the program was deprived: its start and its length in seconds, from the start of the
// observation.
struct Detour {
  double start_s;
  double length_s;
};

// One rank's view of its core during one run.
struct Observation {
  double observed_s = 0;
  double undisturbed_s = 0;     // of one quantum
  double lost_s = 0;            // in all detours, including those left out
  std::vector<Detour> detours;  // in order; the longest ones if there are too many
};

// The longest list of detours. If there are more, the shortest are left out.
inline constexpr std::size_t max_detours = 4096;

// Finds the detours in equal quanta: `seconds` are their durations, from the start of the observation. The
// undisturbed duration is the median over the surrounding quanta, so that a core that changes its frequency
// is not noisy.
Observation from_quanta(std::span<const double> seconds, double clock_step_s);

// Finds the detours in equal windows of `window_s`: `units` are the units of work done in each. The time lost
// in a window is the share of the units that are missing compared with the median of the surrounding windows,
// or with the best windows if most of the surrounding ones are disturbed.
Observation from_windows(std::span<const double> units, double window_s);

}  // namespace hockney
