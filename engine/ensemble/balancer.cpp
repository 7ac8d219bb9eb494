// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "ensemble/balancer.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <utility>

namespace hockney::annealing {

std::vector<int> equal_counts(int walkers, int blocks) {
  std::vector<int> counts(static_cast<std::size_t>(blocks), walkers / blocks);
  for (int i = 0; i < walkers % blocks; ++i) ++counts[static_cast<std::size_t>(i)];
  return counts;
}

std::vector<int> balanced_counts(const std::vector<double>& seconds, int walkers) {
  // One walker after the other goes to the rank that would then be the first to end: optimal for equal
  // walkers.
  std::vector<int> counts(seconds.size(), 1);
  using End = std::pair<double, std::size_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  for (std::size_t rank = 0; rank < seconds.size(); ++rank) ends.emplace(2 * seconds[rank], rank);
  for (int left = walkers - static_cast<int>(seconds.size()); left > 0; --left) {
    const std::size_t rank = ends.top().second;
    ends.pop();
    ++counts[rank];
    ends.emplace((counts[rank] + 1) * seconds[rank], rank);
  }
  return counts;
}

namespace {

double slowest(const std::vector<double>& seconds, const std::vector<int>& counts) {
  double most = 0;
  for (std::size_t rank = 0; rank < seconds.size(); ++rank)
    most = std::max(most, seconds[rank] * counts[rank]);
  return most;
}

}  // namespace

void Balancer::add(int round, const Statistics* all) {
  if (round < since_) return;  // with former numbers of walkers
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

bool Balancer::advises() const {
  if (pending_ >= 0 || static_cast<int>(seconds_.size()) < least_rounds) return false;
  const std::vector<double> medians = seconds_per_walker();
  const std::vector<int> better = balanced_counts(medians, walkers_);
  const auto gains = [&](const std::vector<double>& seconds) {
    return slowest(seconds, better) < (1 - least_gain) * slowest(seconds, counts_);
  };
  return gains(medians) &&
         std::count_if(seconds_.begin(), seconds_.end(), gains) + 1 >= static_cast<int>(seconds_.size());
}

std::vector<int> Balancer::redistributed() {
  counts_ = balanced_counts(seconds_per_walker(), walkers_);
  seconds_.clear();
  since_ = pending_ + 1;
  pending_ = -1;
  return counts_;
}

}  // namespace hockney::annealing
