// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

// In round k each rank signals to the rank 2^k places ahead and waits for the one 2^k places behind. The
// message is the flag; receiving it resets the flag.
class Dissemination final : public Barrier {
 public:
  explicit Dissemination(MPI_Comm comm) : signals_(comm) {}

  void wait() override {
    const int size = signals_.size();
    for (int step = 1, round = 0; step < size; step <<= 1, ++round)
      signals_.exchange((signals_.rank() + step) % size, (signals_.rank() + size - step) % size, round);
  }

 private:
  const Signals signals_;
};

}  // namespace

extern constinit const BarrierAlgorithm dissemination{
    "dissemination",
    "round k: to the rank 2^k further on, from the rank 2^k before",
    "Hensgen, Finkel, Manber, Two Algorithms for Barrier Synchronization (1988)",
    Signalling::messages,
    [](int ranks) -> Traffic {
      const int rounds = doubling_rounds(ranks);
      return {static_cast<long>(ranks) * rounds, rounds, 2 * rounds};
    },
    make_barrier_of<Dissemination>,
    TrialOrder{.single_rank = 1, .one_node = 6, .oversubscribed = 6, .multiple_nodes = 3}};

}  // namespace hockney::sync
