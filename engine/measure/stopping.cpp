// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/stopping.hpp"

#include <algorithm>
#include <cmath>

#include "base/expect.hpp"

namespace hockney {
namespace {

// The sample grows by half, if time allows.
int next_chunk(const Progress& progress) {
  const int padded_bytes = progress.repetitions == 0
                               ? progress.first_chunk
                               : static_cast<int>(progress.repetitions * Method::growth) + 1;
  const double affordable_runs = progress.remaining_s / std::max(progress.repetition_s, 1e-9);
  return std::min(
      {padded_bytes, static_cast<int>(std::clamp(affordable_runs, 1.0, 1e6)), Method::largest_chunk});
}

}  // namespace

int batch_for(double run_s, const ClockCost& cost) {
  HOCKNEY_EXPECT(!std::isnan(run_s) && cost.overhead_s >= 0 && cost.resolution_s >= 0);
  if (run_s <= 0) return 1;
  const double required =
      std::max(cost.overhead_s / Method::clock_share, cost.resolution_s / Method::step_share) / run_s;
  return static_cast<int>(std::clamp(std::ceil(required), 1.0, static_cast<double>(Method::largest_batch)));
}

int min_warm_up_repetitions(double run_s, int runs, double max_s) {
  HOCKNEY_EXPECT(!std::isnan(run_s) && runs >= 1);
  const double affordable_runs = max_s / std::max(run_s, 1e-9);
  const double max_runs = Method::min_warm_up_runs;
  return static_cast<int>(std::clamp(affordable_runs - Method::min_runs, 0.0, max_runs)) / runs;
}

const char* stop_reason(Next next) {
  switch (next) {
    case Next::stop_precise: return "precision";
    case Next::stop_budget: return "budget";
    default: return "repetitions";
  }
}

// The first line that applies:
//
//   all repetitions made                                   stop
//   precise, from enough repetitions                       stop
//   time left for another repetition                       repeat: the next chunk
//   none made, too many windows missed                     give up
//   none made                                              repeat: one
//   (a chunk has at least as many repetitions as take as long as its start)
//   fewer than the fewest, each within the case's time     repeat: up to the fewest
//   otherwise                                              stop
Decision decide(const Progress& progress, const StopRule& rule) {
  HOCKNEY_EXPECT(progress.repetitions >= 0 && progress.first_chunk >= 1 && rule.max_repetitions >= 1);
  const bool precise = progress.achieved_precision && *progress.achieved_precision <= rule.precision;
  const int max_runs = rule.max_repetitions - progress.repetitions;
  const auto repeat = [&progress, max_runs](int count) {
    return Decision{Next::repeat, std::min(std::max(count, progress.min_chunk), max_runs)};
  };

  if (max_runs <= 0) return {precise ? Next::stop_precise : Next::stop_repetitions};
  if (precise && progress.repetitions >= Method::min_repetitions_for_precision) return {Next::stop_precise};
  if (progress.remaining_s >= progress.repetition_s) return repeat(next_chunk(progress));
  if (progress.repetitions == 0 && progress.late_count >= Method::max_attempts) return {Next::give_up};
  if (progress.repetitions == 0) return repeat(1);
  if (progress.repetitions < progress.min_repetitions && progress.repetition_s < rule.budget_s)
    return repeat(progress.min_repetitions - progress.repetitions);
  return {precise ? Next::stop_precise : Next::stop_budget};
}

}  // namespace hockney
