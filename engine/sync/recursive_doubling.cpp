// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

constexpr int largest_power(int ranks) {
  int power = 1;
  while (2L * power <= ranks) power *= 2;
  return power;
}

// Pairs 2^k apart exchange signals. If the number of ranks is not a power of two, the ranks beyond the
// largest power of two first signal to a partner, which releases them at the end.
class RecursiveDoubling final : public Barrier {
 public:
  explicit RecursiveDoubling(MPI_Comm comm) : signals_(comm), power_(largest_power(signals_.size())) {}

  void wait() override {
    const int rank = signals_.rank();
    if (rank >= power_) {
      signals_.send(rank - power_, arrival_tag);
      signals_.receive(rank - power_, release_tag);
      return;
    }
    const bool has_partner = rank + power_ < signals_.size();
    if (has_partner) signals_.receive(rank + power_, arrival_tag);
    for (int step = 1; step < power_; step <<= 1) signals_.exchange(rank ^ step, rank ^ step);
    if (has_partner) signals_.send(rank + power_, release_tag);
  }

 private:
  static constexpr int arrival_tag = 1;
  static constexpr int release_tag = 2;

  const Signals signals_;
  const int power_;
};

}  // namespace

extern constinit const BarrierAlgorithm recursive_doubling{
    "recursive_doubling",
    "pairs 2^k apart exchange; ranks beyond a power of two through a partner",
    "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication (2005)",
    Signalling::messages,
    [](int ranks) -> Traffic {
      const int power = largest_power(ranks), extra_ranks = ranks - power, rounds = doubling_rounds(power);
      // If several ranks are beyond the power of two, a path from one of them through all rounds ends at
      // another.
      const int extra_steps = extra_ranks == 0 ? 0 : 2 * extra_ranks > power ? 2 : 1;
      return {static_cast<long>(power) * rounds + 2L * extra_ranks, rounds + extra_steps,
              2 * rounds + (extra_ranks ? 2 : 0)};
    },
    make_barrier_of<RecursiveDoubling>,
    TrialOrder{.single_rank = 0, .one_node = 0, .oversubscribed = 0, .multiple_nodes = 5}};

}  // namespace hockney::sync
