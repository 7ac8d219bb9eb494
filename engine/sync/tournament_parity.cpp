// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

// Arrivals as in the tournament. Flags alternate by parity, so that none is reset. The champion's broadcast
// ends the episode on all ranks, so no rank can be two episodes ahead.
class TournamentParity final : public Barrier {
 public:
  explicit TournamentParity(MPI_Comm comm) : signals_(comm) {}

  void wait() override {
    const int rank = signals_.rank(), size = signals_.size();
    int round = 0;
    for (int step = 1; step < size; step <<= 1, ++round) {
      if (rank & step) {
        signals_.send(rank - step, round * 2 + parity_);
        break;
      }
      if (rank + step < size) until(round);
    }
    signals_.broadcast_from(0);
    parity_ = 1 - parity_;
  }

 private:
  void until(int round) {
    bool& flag = flags_[static_cast<std::size_t>(parity_)][static_cast<std::size_t>(round)];
    while (!flag) {
      const int tag = signals_.receive_any();
      flags_[static_cast<std::size_t>(tag % 2)][static_cast<std::size_t>(tag / 2)] = true;
    }
    flag = false;
  }

  const Signals signals_;
  int parity_ = 0;
  std::array<std::array<bool, max_rounds>, 2> flags_{};
};

}  // namespace

extern constinit const BarrierAlgorithm tournament_parity{
    "tournament_parity",
    "tournament with flags by parity, the champion broadcasts",
    "Krishnamurthy, Performance of Barriers (1998)",
    Signalling::messages,
    [](int ranks) -> Traffic {
      return {2L * (ranks - 1), 2 * binomial_height(ranks), 2 * doubling_rounds(ranks)};
    },
    make_barrier_of<TournamentParity>,
    never_tried};

}  // namespace hockney::sync
