// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ensemble/messages.hpp"

namespace hockney::annealing {

// The number of walkers of each rank if every rank takes seconds[rank] for one walker: at least 1, such that
// the slowest rank ends as early as possible.
std::vector<int> balance_counts(const std::vector<double>& seconds, int walkers);

// Sizes of blocks of consecutive numbers, as equal as possible.
std::vector<int> divide_evenly(int walkers, int blocks);

// Decides when walkers move to faster ranks. A rank's time for one walker is the median over the rounds since
// the last redistribution, at most `memory` of them. Walkers move if the slowest rank would then need at
// least `min_gain` less time, both by these medians and in all but one of these rounds: noise slows a
// different rank in each round, and a disturbance rarely lasts longer than a round.
class Balancer final {
 public:
  static constexpr int memory = 5;
  static constexpr int min_rounds = 4;
  static constexpr double min_gain = 0.1;

  Balancer(int walkers, int ranks) : walkers_(walkers), counts_(divide_evenly(walkers, ranks)) {}

  // Adds the statistics of the next round, by rank.
  void add(int round, const Statistics* all);
  // Whether walkers should be redistributed. set_pending() announces a redistribution after round `last`;
  // until then nothing is recommended.
  bool recommends_redistribution() const;
  void set_pending(int last) { pending_round_ = last; }
  // The new number of walkers on each rank, from the current estimates.
  std::vector<int> redistributed_counts();

 private:
  std::vector<double> seconds_per_walker() const;

  const int walkers_;
  std::vector<int> counts_;
  std::vector<std::vector<double>> seconds_;  // time for one walker on each rank in the last rounds
  int first_round_ = 0;                       // first round with counts_
  int pending_round_ = -1;                    // round after which walkers move; -1: none
};

}  // namespace hockney::annealing
