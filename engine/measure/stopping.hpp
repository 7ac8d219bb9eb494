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
  double precision = 0.02;  // wanted half width of the median's 95% interval, relative
  double budget_s = 1.0;    // for the whole case: set-up, warm-up, repetitions, verification
  int max_repetitions = 20000;
  int most_warm_up = 320;  // repetitions
  double patience_s =
      std::numeric_limits<double>::infinity();  // beyond the budget, before a case counts as hung
};

// The numbers that the method of repeating consists of, with where they come from.
struct Method {
  // Batches. The clock may take 2% of a repetition, and its step 10%. With the customary 5% reading the clock
  // would by itself use up the fidelity promised against a loop that reads it once (benchmarks/fidelity.py).
  static constexpr double clock_share = 0.02;
  static constexpr double step_share = 0.10;
  static constexpr int largest_batch = 100000;

  // Warm-up. It is over when a block of repetitions is no more than 3% faster than the one before.
  static constexpr int warm_up_block = 8;
  static constexpr double settled = 0.97;
  static constexpr double warm_up_share = 0.15;  // of the time left
  // A run that computes for at least this long is warm after the first one.
  static constexpr double warm_by_itself_s = 10e-3;

  // Chunks of repetitions between two looks at the interval. Looking too often at an interval that shrinks by
  // chance ends too early; so the sample grows by half between looks.
  static constexpr int first_chunk = 30;
  static constexpr double growth = 0.5;
  static constexpr int largest_chunk = 5000;
  // A time that was only extrapolated from fewer runs, and is longer than this, is first measured once.
  static constexpr double long_repetition_s = 10e-3;

  // A verification that could be left out takes no more than this part of the time for what it verifies.
  static constexpr double verification_share = 0.02;
  // Of longer messages a verification compares so many bytes, at a place chosen at random: comparing all of
  // one takes about as long as moving it.
  static constexpr std::size_t verified_bytes = std::size_t{32} << 10;
  // In the first visit, with time for more, as many as take up verification_share of the case's time at this
  // rate, in bytes a second.
  static constexpr double verification_rate = 1e9;

  // Stopping. An interval from fewer repetitions may be narrow by luck: times come in modes that last for
  // tens of messages, and 30 repetitions may see one mode only. With 30 the interval at which a case stops
  // would cover 58% where there are two modes, with 300 it covers as often as that of a fixed number
  // (benchmarks/coverage.py, part stopping).
  static constexpr int fewest_for_precision = 300;
  // A case whose time is up still gets repetitions of so many
  // runs, where one takes no more than the case's share.
  static constexpr int fewest_runs = 5;
  // An interval of fewer visits may be narrow by luck.
  static constexpr int fewest_visits_for_precision = 20;
  // Of a case's share: its first visit, which warms up from nothing.
  static constexpr double first_visit_share = 0.2;
  // Of a case's share: what one of many visits may take where its repetitions are long.
  static constexpr double visit_share = 0.5;
  // Windows missed, with the time up, before a case is given up.
  static constexpr int most_attempts = 200;
};

// Runs that a repetition needs for its time to be long enough for the clock.
int batch_for(double run_s, const ClockCost& cost);

enum class Next { repeat, stop_precise, stop_repetitions, stop_budget, give_up };

struct Decision {
  Next next = Next::repeat;
  int count = 0;                // repetitions to come
  bool verify_another = false;  // where these were the last: one more run, with another payload
};

// The reason of a record for a decision to stop.
const char* stop_reason(Next next);

// What rank 0 knows after a chunk of repetitions.
struct Progress {
  int done = 0;                    // repetitions
  std::optional<double> achieved;  // relative half width of the median's interval
  double repetition_s = 0;         // what one costs with all that goes with it
  double left_s = 0;               // of the case's time
  long late = 0;                   // windows missed
  int first_chunk = Method::first_chunk;
  int fewest = Method::fewest_runs;  // repetitions that a case gets whose time is up
};

Decision decide(const Progress& progress, const StopRule& rule);

}  // namespace hockney
