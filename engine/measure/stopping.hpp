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
  int max_warm_up = 320;  // maximum, in repetitions
  double patience_s =
      std::numeric_limits<double>::infinity();  // beyond the budget, before a case counts as hung
};

// The constants of the measuring method, with their sources.
struct Method {
  // Batches. Reading the clock may take 1% of a repetition; its resolution may be 10%. With the customary 5%,
  // the readings alone would use up the promised accuracy relative to a loop that reads the clock once
  // (benchmarks/fidelity.py).
  static constexpr double clock_share = 0.01;
  static constexpr double step_share = 0.10;
  static constexpr int largest_batch = 100000;

  // Warm-up. It ends when a block of repetitions is no more than 3% faster than the one before.
  static constexpr int warm_up_block = 8;
  static constexpr double settled_ratio = 0.97;
  static constexpr double warm_up_share = 0.15;  // of the remaining time
  // Runs with which a visit with long runs warms up even if its time is up: other cases have evicted its
  // buffers from the caches, so its first runs are up to 40% slower.
  static constexpr int min_warm_up_runs = 8;
  // A run that computes for at least this long is warm after the first one.
  static constexpr double warm_by_itself_s = 10e-3;

  // Chunks of repetitions between two checks of the interval. Checking too often stops at intervals that are
  // narrow by chance, so the sample grows by half between checks.
  static constexpr int first_chunk = 30;
  static constexpr double growth = 0.5;
  static constexpr int largest_chunk = 5000;
  // If a longer time was only extrapolated from fewer runs, it is measured once before it is used.
  static constexpr double long_repetition_s = 10e-3;

  // An optional verification takes at most this fraction of the time of the verified runs.
  static constexpr double verification_share = 0.02;
  // If a message is longer, a verification compares this many bytes, at a random offset: comparing the whole
  // message would take about as long as transferring it.
  static constexpr std::size_t verified_bytes = std::size_t{32} << 10;
  // Rate, in bytes per second, that determines how many bytes the first visit compares: as many as take
  // verification_share of the case's time at this rate.
  static constexpr double verification_rate = 1e9;

  // Stopping. An interval from fewer repetitions may be narrow by chance: times come in modes that last for
  // tens of messages, and 30 repetitions may see only one mode. If there are two modes, the interval at which
  // a case stops covers 58% with 30 repetitions; with 300 it covers as often as that of a fixed number
  // (benchmarks/coverage.py, part stopping).
  static constexpr int min_repetitions_for_precision = 300;
  // A case whose time is up still makes repetitions with this many runs in total, if each takes at most the
  // case's share.
  static constexpr int min_runs = 5;
  // An interval from fewer visits may be narrow by chance.
  static constexpr int min_visits_for_precision = 20;
  // Repetitions that the median of a distribution requires in a launch.
  static constexpr int min_distribution_runs = 6;
  // Fraction of a case's share for its first visit, which includes the whole warm-up.
  static constexpr double first_visit_share = 0.2;
  // Fraction of a case's share that one of many visits may take if its repetitions are long.
  static constexpr double visit_share = 0.5;
  // The same fraction for a later visit that has to warm up: it only takes place if other cases have left
  // time.
  static constexpr double later_visit_share = 2;
  // Number of missed windows after which a case whose time is up is abandoned.
  static constexpr int max_attempts = 200;
};

// Number of runs per repetition that makes a repetition long enough for the clock.
int batch_for(double run_s, const ClockCost& cost);

// Number of repetitions, each of `runs` runs, that warm up a visit even if its time is up. It is lower than
// required, or 0, if the visit would take longer than `max_s`.
int min_warm_up_repetitions(double run_s, int runs, double max_s);

enum class Next { repeat, stop_precise, stop_repetitions, stop_budget, give_up };

struct Decision {
  Next next = Next::repeat;
  int count = 0;                  // next repetitions
  long previous_repetitions = 0;  // of all previous visits
  bool verify_another = false;    // if these were the last: verify one more run, with another payload
};

// The record's reason for a decision to stop.
const char* stop_reason(Next next);

// The state on rank 0 after a chunk of repetitions.
struct Progress {
  int repetitions = 0;                       // repetitions
  std::optional<double> achieved_precision;  // relative half-width of the median's interval
  double repetition_s = 0;                   // of one repetition, including overhead
  double remaining_s = 0;                    // of the case's budget
  long late_count = 0;                       // missed windows
  int first_chunk = Method::first_chunk;
  int min_repetitions = Method::min_runs;  // repetitions of a case whose time is up
  int min_chunk = 1;                       // repetitions that take as long as starting a chunk
};

Decision decide(const Progress& progress, const StopRule& rule);

}  // namespace hockney
