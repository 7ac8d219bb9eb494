// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "library/trial.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "base/invalid_case.hpp"
#include "base/statistics.hpp"

namespace hockney {
namespace {

// Fractions of the limit after which no further candidate is created and no further round is started. The
// remaining time is reserved for the last round, which may take longer than previous ones, and for freeing
// the losers.
constexpr double making = 0.4;
constexpr double timing = 0.7;
// Enough rounds for a median that is robust against a few outliers.
constexpr int max_trial_rounds = 200;
constexpr int min_rounds = 15;
// A candidate is dropped if it is `hopeless_factor` times slower than the best after `min_rounds_to_drop`
// rounds, or, at any time, if an episode takes more than `max_episode_share` of the limit.
constexpr double hopeless_factor = 3.0;
constexpr std::size_t min_rounds_to_drop = 3;
constexpr double max_episode_share = 0.05;
// Episodes per round: enough for the clock's resolution, but few, since a round cannot be interrupted.
constexpr long max_calls = 32;

class Trials {
 public:
  Trials(MPI_Comm comm, const WaitPolicy& wait_policy, double start_s, double limit)
      : comm_(comm), wait_policy_(wait_policy), start_s_(start_s), limit_(limit) {
    MPI_Comm_rank(comm, &rank_);
  }

  void make(const std::vector<const BarrierAlgorithm*>& candidates) {
    double before = common_time(), longest = 0;
    for (const BarrierAlgorithm* algorithm : candidates) {
      if (!active_trials_.empty() && before + longest > making * limit_) return;
      try {
        auto barrier = algorithm->make(comm_);
        // During the first episode, MPI connects ranks, and pages are allocated.
        barrier->wait();
        active_trials_.push_back({algorithm, std::move(barrier), {}});
      } catch (const InvalidCase&) {  // on all ranks or on none
      }
      const double after = common_time();
      longest = std::max(longest, after - before);
      before = after;
    }
  }

  // Every candidate is timed in every round, so that a disturbance affects all of them.
  void time() {
    if (active_trials_.size() < 2) return;
    double now = 0;
    for (int round = 0; round < max_trial_rounds && now < timing * limit_ && active_trials_.size() > 1;
         ++round) {
      const double share = (timing * limit_ - now) / min_rounds / static_cast<double>(active_trials_.size());
      std::vector<double> seconds(active_trials_.size() + 1, 0.0);
      for (std::size_t turn = 0; turn < active_trials_.size(); ++turn) {
        const std::size_t k = (turn + static_cast<std::size_t>(round)) % active_trials_.size();
        seconds[k] = seconds_of(active_trials_[k], share);
      }
      seconds.back() = elapsed_at_root();
      reduce_max(comm_, wait_policy_, seconds);
      now = seconds.back();
      for (std::size_t k = 0; k < active_trials_.size(); ++k) active_trials_[k].rounds.push_back(seconds[k]);
      drop_hopeless();
    }
  }

  std::vector<Trial> sorted() {
    if (active_trials_.size() < 2 && dropped_trials_.empty()) return std::move(active_trials_);
    for (Trial& trial : dropped_trials_) active_trials_.push_back(std::move(trial));
    std::stable_sort(active_trials_.begin(), active_trials_.end(),
                     [](const Trial& a, const Trial& b) { return median(a.rounds) < median(b.rounds); });
    return std::move(active_trials_);
  }

 private:
  double elapsed_at_root() const { return rank_ == 0 ? MPI_Wtime() - start_s_ : 0.0; }
  // Rank 0's clock, read on all ranks.
  double common_time() const {
    std::vector<double> now{elapsed_at_root()};
    reduce_max(comm_, wait_policy_, now);
    return now[0];
  }

  // Number of episodes that fit into `share` seconds: one in the first round, when no estimate exists, and at
  // most twice as many as in the previous round. All ranks compute the same number from the same data.
  static double seconds_of(const Trial& trial, double share) {
    const std::size_t rounds = trial.rounds.size();
    const long most = rounds < 5 ? 1L << rounds : max_calls;
    const double fits = rounds == 0 ? 1.0 : share / std::max(median(trial.rounds), 1e-9);
    const long calls = std::lround(std::clamp(fits, 1.0, static_cast<double>(most)));
    const double start = MPI_Wtime();
    for (long call = 0; call < calls; ++call) trial.barrier->wait();
    return (MPI_Wtime() - start) / static_cast<double>(calls);
  }

  // Drops candidates that are consistently slow, or whose single episode would use up the time of the others.
  void drop_hopeless() {
    double best = median(active_trials_.front().rounds);
    for (const Trial& trial : active_trials_) best = std::min(best, median(trial.rounds));
    const bool is_confident = active_trials_.front().rounds.size() >= min_rounds_to_drop;
    const auto slow_begin =
        std::stable_partition(active_trials_.begin(), active_trials_.end(), [&](const Trial& trial) {
          const double trial_median = median(trial.rounds);
          return trial_median <= hopeless_factor * best ||
                 (!is_confident && trial_median <= max_episode_share * limit_);
        });
    std::move(slow_begin, active_trials_.end(), std::back_inserter(dropped_trials_));
    active_trials_.erase(slow_begin, active_trials_.end());
  }

  MPI_Comm comm_;
  const WaitPolicy& wait_policy_;
  const double start_s_;
  const double limit_;
  int rank_ = 0;
  std::vector<Trial> active_trials_;
  std::vector<Trial> dropped_trials_;
};

}  // namespace

void reduce_max(MPI_Comm comm, const WaitPolicy& wait_policy, std::vector<double>& values) {
  const auto count = static_cast<int>(values.size());
  if (!wait_policy.oversubscribed()) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), count, MPI_DOUBLE, MPI_MAX, comm);
    return;
  }
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, values.data(), count, MPI_DOUBLE, MPI_MAX, comm, &request);
  wait_policy.finish(request);
}

std::vector<Trial> run_trials(MPI_Comm comm, const WaitPolicy& wait_policy,
                              const std::vector<const BarrierAlgorithm*>& candidates, double start_s,
                              double limit) {
  Trials trials(comm, wait_policy, start_s, limit);
  trials.make(candidates);
  trials.time();
  return trials.sorted();
}

}  // namespace hockney
