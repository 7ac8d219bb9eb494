// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "ensemble/balancer.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <utility>

namespace hockney::annealing {

std::vector<int> divide_evenly(int walkers, int blocks) {
  std::vector<int> counts(static_cast<std::size_t>(blocks), walkers / blocks);
  for (int i = 0; i < walkers % blocks; ++i) ++counts[static_cast<std::size_t>(i)];
  return counts;
}

std::vector<int> balance_counts(const std::vector<double>& seconds, int walkers) {
  // Assigns each walker to the rank that would then finish first, which is optimal for equal walkers.
  std::vector<int> counts(seconds.size(), 1);
  using End = std::pair<double, std::size_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> finish_times;
  for (std::size_t rank = 0; rank < seconds.size(); ++rank) finish_times.emplace(2 * seconds[rank], rank);
  for (int remaining = walkers - static_cast<int>(seconds.size()); remaining > 0; --remaining) {
    const std::size_t rank = finish_times.top().second;
    finish_times.pop();
    ++counts[rank];
    finish_times.emplace((counts[rank] + 1) * seconds[rank], rank);
  }
  return counts;
}

namespace {

double slowest(const std::vector<double>& seconds, const std::vector<int>& counts) {
  double max_s = 0;
  for (std::size_t rank = 0; rank < seconds.size(); ++rank)
    max_s = std::max(max_s, seconds[rank] * counts[rank]);
  return max_s;
}

}  // namespace

void Balancer::add(int round, const Statistics* all) {
  if (round < first_round_) return;  // with previous numbers of walkers
  std::vector<double> seconds(counts_.size());
  for (std::size_t rank = 0; rank < seconds.size(); ++rank) seconds[rank] = all[rank].seconds / counts_[rank];
  if (static_cast<int>(seconds_.size()) == memory) seconds_.erase(seconds_.begin());
  seconds_.push_back(std::move(seconds));
}

std::vector<double> Balancer::seconds_per_walker() const {
  std::vector<double> medians(counts_.size());
  std::vector<double> times(seconds_.size());
  for (std::size_t rank = 0; rank < medians.size(); ++rank) {
    for (std::size_t i = 0; i < times.size(); ++i) times[i] = seconds_[i][rank];
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    medians[rank] = *middle;
  }
  return medians;
}

bool Balancer::recommends_redistribution() const {
  if (pending_round_ >= 0 || static_cast<int>(seconds_.size()) < min_rounds) return false;
  const std::vector<double> medians = seconds_per_walker();
  const std::vector<int> better = balance_counts(medians, walkers_);
  const auto gains = [&](const std::vector<double>& seconds) {
    return slowest(seconds, better) < (1 - min_gain) * slowest(seconds, counts_);
  };
  return gains(medians) &&
         std::count_if(seconds_.begin(), seconds_.end(), gains) + 1 >= static_cast<int>(seconds_.size());
}

std::vector<int> Balancer::redistributed_counts() {
  counts_ = balance_counts(seconds_per_walker(), walkers_);
  seconds_.clear();
  first_round_ = pending_round_ + 1;
  pending_round_ = -1;
  return counts_;
}

}  // namespace hockney::annealing
