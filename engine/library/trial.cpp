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
// rest is reserved for the last round, which may take longer than the ones before it, and for freeing the
// losers.
constexpr double making = 0.4;
constexpr double timing = 0.7;
// Enough rounds for a median that is robust against a few outliers.
constexpr int most_trial_rounds = 200;
constexpr int least_rounds = 15;
// A candidate that is `hopeless` times slower than the best after `enough_rounds` rounds is dropped, and at
// any time one whose episode takes more than `costly` of the limit.
constexpr double hopeless = 3.0;
constexpr std::size_t enough_rounds = 3;
constexpr double costly = 0.05;
// Episodes in a round: enough for the clock's resolution, but few, since a round cannot be interrupted.
constexpr long most_calls = 32;

class Trials {
 public:
  Trials(MPI_Comm comm, const WaitPolicy& wait_policy, double begun, double limit)
      : comm_(comm), wait_policy_(wait_policy), begun_(begun), limit_(limit) {
    MPI_Comm_rank(comm, &rank_);
  }

  void make(const std::vector<const BarrierAlgorithm*>& candidates) {
    double before = common_time(), longest = 0;
    for (const BarrierAlgorithm* algorithm : candidates) {
      if (!alive_.empty() && before + longest > making * limit_) return;
      try {
        auto barrier = algorithm->make(comm_);
        // In the first episode MPI connects ranks, and pages are allocated.
        barrier->wait();
        alive_.push_back({algorithm, std::move(barrier), {}});
      } catch (const InvalidCase&) {  // on all ranks, or on none
      }
      const double after = common_time();
      longest = std::max(longest, after - before);
      before = after;
    }
  }

  // Every candidate is timed in every round, so that a disturbance affects all of them.
  void time() {
    if (alive_.size() < 2) return;
    double now = 0;
    for (int round = 0; round < most_trial_rounds && now < timing * limit_ && alive_.size() > 1; ++round) {
      const double share = (timing * limit_ - now) / least_rounds / static_cast<double>(alive_.size());
      std::vector<double> seconds(alive_.size() + 1, 0.0);
      for (std::size_t turn = 0; turn < alive_.size(); ++turn) {
        const std::size_t k = (turn + static_cast<std::size_t>(round)) % alive_.size();
        seconds[k] = seconds_of(alive_[k], share);
      }
      seconds.back() = now_at_root();
      agree(comm_, wait_policy_, seconds);
      now = seconds.back();
      for (std::size_t k = 0; k < alive_.size(); ++k) alive_[k].rounds.push_back(seconds[k]);
      drop_hopeless();
    }
  }

  std::vector<Trial> sorted() {
    if (alive_.size() < 2 && dropped_.empty()) return std::move(alive_);
    for (Trial& trial : dropped_) alive_.push_back(std::move(trial));
    std::stable_sort(alive_.begin(), alive_.end(),
                     [](const Trial& a, const Trial& b) { return median(a.rounds) < median(b.rounds); });
    return std::move(alive_);
  }

 private:
  double now_at_root() const { return rank_ == 0 ? MPI_Wtime() - begun_ : 0.0; }
  // Rank 0's clock, read on all ranks.
  double common_time() const {
    std::vector<double> now{now_at_root()};
    agree(comm_, wait_policy_, now);
    return now[0];
  }

  // Times as many episodes as fit into `share` seconds: one in the first round, when no estimate exists, and
  // at most twice as many each round. All ranks choose the same number, from the same data.
  static double seconds_of(const Trial& trial, double share) {
    const std::size_t rounds = trial.rounds.size();
    const long most = rounds < 5 ? 1L << rounds : most_calls;
    const double fits = rounds == 0 ? 1.0 : share / std::max(median(trial.rounds), 1e-9);
    const long calls = std::lround(std::clamp(fits, 1.0, static_cast<double>(most)));
    const double start = MPI_Wtime();
    for (long call = 0; call < calls; ++call) trial.barrier->wait();
    return (MPI_Wtime() - start) / static_cast<double>(calls);
  }

  // Drops candidates that are consistently slow, or whose single episode would use up the others' time.
  void drop_hopeless() {
    double best = median(alive_.front().rounds);
    for (const Trial& trial : alive_) best = std::min(best, median(trial.rounds));
    const bool sure = alive_.front().rounds.size() >= enough_rounds;
    const auto slow = std::stable_partition(alive_.begin(), alive_.end(), [&](const Trial& trial) {
      const double its = median(trial.rounds);
      return its <= hopeless * best || (!sure && its <= costly * limit_);
    });
    std::move(slow, alive_.end(), std::back_inserter(dropped_));
    alive_.erase(slow, alive_.end());
  }

  MPI_Comm comm_;
  const WaitPolicy& wait_policy_;
  const double begun_;
  const double limit_;
  int rank_ = 0;
  std::vector<Trial> alive_;
  std::vector<Trial> dropped_;
};

}  // namespace

void agree(MPI_Comm comm, const WaitPolicy& wait_policy, std::vector<double>& values) {
  const auto count = static_cast<int>(values.size());
  if (!wait_policy.crowded()) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), count, MPI_DOUBLE, MPI_MAX, comm);
    return;
  }
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, values.data(), count, MPI_DOUBLE, MPI_MAX, comm, &request);
  wait_policy.finish(request);
}

std::vector<Trial> try_out(MPI_Comm comm, const WaitPolicy& wait_policy,
                           const std::vector<const BarrierAlgorithm*>& candidates, double begun,
                           double limit) {
  Trials trials(comm, wait_policy, begun, limit);
  trials.make(candidates);
  trials.time();
  return trials.sorted();
}

}  // namespace hockney
