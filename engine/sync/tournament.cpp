// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

// In round k the loser of each pair, 2^k apart, signals to its winner and waits for the end; the champion,
// rank 0, wakes all ranks at once. Winners and losers are fixed in advance.
class Tournament final : public Barrier {
 public:
  explicit Tournament(MPI_Comm comm) : signals_(comm) {}

  void wait() override {
    const int rank = signals_.rank(), size = signals_.size();
    for (int step = 1; step < size; step <<= 1) {
      if (rank & step) {
        signals_.send(rank - step);
        break;
      }
      if (rank + step < size) signals_.receive(rank + step);
    }
    signals_.broadcast_from(0);
  }

 private:
  const Signals signals_;
};

}  // namespace

extern constinit const BarrierAlgorithm tournament{
    "tournament",
    "losers of each round signal to winners, the champion broadcasts",
    "Hensgen, Finkel, Manber, Two Algorithms for Barrier Synchronization (1988)",
    Signalling::messages,
    [](int ranks) -> Traffic {
      return {2L * (ranks - 1), 2 * binomial_height(ranks), 2 * doubling_rounds(ranks)};
    },
    make_barrier_of<Tournament>,
    never_tried};

}  // namespace hockney::sync
