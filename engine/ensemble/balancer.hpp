// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ensemble/messages.hpp"

namespace hockney::annealing {

// The number of walkers of each rank if every rank takes seconds[rank] for one: at least 1, such that the
// slowest rank ends as early as possible.
std::vector<int> balanced_counts(const std::vector<double>& seconds, int walkers);

// Blocks of consecutive numbers, as equal as possible: the number of each.
std::vector<int> equal_counts(int walkers, int blocks);

// Decides when walkers move to faster ranks. A rank's time for one walker is the median over the rounds since
// the last redistribution, at most `memory` of them. Walkers move if the slowest rank would then need at
// least `least_gain` less time, by these medians and also in each of these rounds but one: in noise it is
// another rank in each round that is slow, and a disturbance is rarely longer than a round.
class Balancer final {
 public:
  static constexpr int memory = 5;
  static constexpr int least_rounds = 4;
  static constexpr double least_gain = 0.1;

  Balancer(int walkers, int ranks) : walkers_(walkers), counts_(equal_counts(walkers, ranks)) {}

  // Statistics of the next round, by rank.
  void add(int round, const Statistics* all);
  // Whether walkers should be redistributed. They are, after round `last`; no advice until then.
  bool advises() const;
  void announced(int last) { pending_ = last; }
  // The new number of each rank's walkers, from what is known now.
  std::vector<int> redistributed();

 private:
  std::vector<double> seconds_per_walker() const;

  const int walkers_;
  std::vector<int> counts_;
  std::vector<std::vector<double>> seconds_;  // of the last rounds, for one walker on each rank
  int since_ = 0;                             // the first round with counts_
  int pending_ = -1;                          // after which round walkers move; -1: none
};

}  // namespace hockney::annealing
