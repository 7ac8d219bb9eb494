// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

// Tournament with flags that are never reset, by parity and sense as in dissemination_mcs; the wake-up goes
// back down the rounds, each winner waking the ranks it beat.
class TournamentMcs final : public Barrier {
 public:
  explicit TournamentMcs(MPI_Comm comm) : signals_(comm) {}

  void wait() override {
    const int rank = signals_.rank(), size = signals_.size();
    int step = 1, round = 0;
    for (; step < size && !(rank & step); step <<= 1, ++round)
      if (rank + step < size) wait_for_flag(arrived, round);
    if (step < size) {  // lost to the rank that will wake this one
      signals_.send(rank - step, tag(arrived, round));
      wait_for_flag(awake, round);
    }
    while (step >>= 1) {
      --round;
      if (rank + step < size) signals_.send(rank + step, tag(awake, round));
    }
    if (parity_ == 1) sense_ = !sense_;
    parity_ = 1 - parity_;
  }

 private:
  static constexpr int arrived = 0;
  static constexpr int awake = 1;

  int tag(int kind, int round) const { return ((round * 2 + kind) * 2 + parity_) * 2 + (sense_ ? 1 : 0); }
  void wait_for_flag(int kind, int round) {
    while (flags_[parity_][kind][round] != sense_) keep(signals_.receive_any());
  }
  void keep(int tag) { flags_[tag / 2 % 2][tag / 4 % 2][tag / 8] = tag % 2 == 1; }

  const Signals signals_;
  int parity_ = 0;
  bool sense_ = true;
  std::array<std::array<std::array<bool, max_rounds>, 2>, 2> flags_{};
};

}  // namespace

extern constinit const BarrierAlgorithm tournament_mcs{
    "tournament_mcs",
    "tournament, woken back down its rounds, flags by parity and sense",
    "Mellor-Crummey, Scott (1991), algorithm 10",
    Signalling::messages,
    [](int ranks) -> Traffic {
      return {2L * (ranks - 1), 2 * binomial_height(ranks), 2 * doubling_rounds(ranks)};
    },
    make_barrier_of<TournamentMcs>,
    never_tried};

}  // namespace hockney::sync
