// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <optional>

#include "base/clock.hpp"

namespace hockney {

// When to stop repeating.
struct StopRule {
  double precision = 0.02;  // target half width of the median's 95% interval, relative
  double budget_s = 1.0;    // for the whole case: set-up, warm-up, repetitions, verification
  int max_repetitions = 20000;
  int most_warm_up = 320;  // maximum, in repetitions
  double patience_s =
      std::numeric_limits<double>::infinity();  // beyond the budget, before a case counts as hung
};

// The constants of the measuring method, with their sources.
struct Method {
  // Batches. Reading the clock may take 1% of a repetition, and its resolution 10%. With the customary 5%,
  // reading the clock alone would use up the fidelity promised relative to a loop that reads it once
  // (benchmarks/fidelity.py).
  static constexpr double clock_share = 0.01;
  static constexpr double step_share = 0.10;
  static constexpr int largest_batch = 100000;

  // Warm-up. It ends when a block of repetitions is no more than 3% faster than the one before.
  static constexpr int warm_up_block = 8;
  static constexpr double settled = 0.97;
  static constexpr double warm_up_share = 0.15;  // of the remaining time
  // The runs that a visit with long runs warms up even if its time is up: the other cases have displaced its
  // buffers from the caches, and the first runs that use them again are up to 40% slower.
  static constexpr int fewest_warm_up_runs = 8;
  // A run that computes for at least this long is warm after the first one.
  static constexpr double warm_by_itself_s = 10e-3;

  // Chunks of repetitions between two checks of the interval. Checking too often an interval that shrinks by
  // chance ends too early, so the sample grows by half between checks.
  static constexpr int first_chunk = 30;
  static constexpr double growth = 0.5;
  static constexpr int largest_chunk = 5000;
  // A longer time that was only extrapolated from fewer runs is measured once before it is used.
  static constexpr double long_repetition_s = 10e-3;

  // An optional verification takes no more than this fraction of the time of what it verifies.
  static constexpr double verification_share = 0.02;
  // If a message is longer, a verification compares this many bytes, at a random offset, because comparing
  // the whole message takes about as long as transferring it.
  static constexpr std::size_t verified_bytes = std::size_t{32} << 10;
  // In the first visit, if there is time, more bytes: as many as take verification_share of the case's time
  // at this rate, in bytes per second.
  static constexpr double verification_rate = 1e9;

  // Stopping. An interval from fewer repetitions may be narrow by chance: times come in modes that last for
  // tens of messages, and 30 repetitions may see only one mode. If there are two modes, the interval at which
  // a case stops covers 58% with 30 repetitions; with 300 it covers as often as that of a fixed number
  // (benchmarks/coverage.py, part stopping).
  static constexpr int fewest_for_precision = 300;
  // A case whose time is up still gets repetitions of this many runs, if one takes no more than the case's
  // share.
  static constexpr int fewest_runs = 5;
  // An interval from fewer visits may be narrow by chance.
  static constexpr int fewest_visits_for_precision = 20;
  // Fraction of a case's share for its first visit, which includes the whole warm-up.
  static constexpr double first_visit_share = 0.2;
  // Fraction of a case's share that one of many visits may take if its repetitions are long.
  static constexpr double visit_share = 0.5;
  // The same for a later visit that has to warm up: it follows only if other cases have left time.
  static constexpr double later_visit_share = 2;
  // Missed windows, with the time up, before a case is abandoned.
  static constexpr int most_attempts = 200;
};

// Runs per repetition that make its time long enough for the clock.
int batch_for(double run_s, const ClockCost& cost);

// Repetitions of `runs` runs that warm up a visit even if its time is up: fewer than required, or none, if
// the visit would take longer than `most_s`.
int fewest_warm_up(double run_s, int runs, double most_s);

enum class Next { repeat, stop_precise, stop_repetitions, stop_budget, give_up };

struct Decision {
  Next next = Next::repeat;
  int count = 0;                // next repetitions
  long done = 0;                // repetitions of all visits before them
  bool verify_another = false;  // if these were the last: one more run, with another payload
};

// The record's reason for a decision to stop.
const char* stop_reason(Next next);

// The state on rank 0 after a chunk of repetitions.
struct Progress {
  int done = 0;                    // repetitions
  std::optional<double> achieved;  // relative half width of the median's interval
  double repetition_s = 0;         // of one repetition, including overhead
  double left_s = 0;               // of the case's time
  long late = 0;                   // missed windows
  int first_chunk = Method::first_chunk;
  int fewest = Method::fewest_runs;  // repetitions that a case gets even if its time is up
};

Decision decide(const Progress& progress, const StopRule& rule);

}  // namespace hockney
