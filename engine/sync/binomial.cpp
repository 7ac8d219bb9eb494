// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

// Arrivals go up a binomial tree, the wake-up goes down the same tree.
class Binomial final : public Barrier {
 public:
  explicit Binomial(MPI_Comm comm) : signals_(comm) {}

  void wait() override {
    const int rank = signals_.rank(), size = signals_.size();
    int step = 1;
    for (; step < size && !(rank & step); step <<= 1)
      if (rank + step < size) signals_.receive(rank + step, arrival_tag);
    if (step < size) {
      signals_.send(rank - step, arrival_tag);
      signals_.receive(rank - step, wake_up_tag);
    }
    while (step >>= 1)
      if (rank + step < size) signals_.send(rank + step, wake_up_tag);
  }

 private:
  static constexpr int arrival_tag = 0;
  static constexpr int wake_up_tag = 1;

  const Signals signals_;
};

}  // namespace

extern constinit const BarrierAlgorithm binomial{
    "binomial",
    "arrivals up a binomial tree, wake-up down the same",
    "Yew, Tzeng, Lawrie, Distributing Hot-Spot Addressing (1987)",
    Signalling::messages,
    [](int ranks) -> Traffic {
      return {2L * (ranks - 1), 2 * binomial_height(ranks), 2 * doubling_rounds(ranks)};
    },
    make_barrier_of<Binomial>,
    TrialOrder{.single_rank = 0, .one_node = 0, .oversubscribed = 0, .multiple_nodes = 8}};

}  // namespace hockney::sync
