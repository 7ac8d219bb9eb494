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
// largest power of two in it signal to a partner first and are released by it last.
class RecursiveDoubling final : public Barrier {
 public:
  explicit RecursiveDoubling(MPI_Comm comm) : signals_(comm), power_(largest_power(signals_.size())) {}

  void wait() override {
    const int rank = signals_.rank();
    if (rank >= power_) {
      signals_.send(rank - power_, before);
      signals_.receive(rank - power_, after);
      return;
    }
    const bool stands_in = rank + power_ < signals_.size();
    if (stands_in) signals_.receive(rank + power_, before);
    for (int step = 1; step < power_; step <<= 1) signals_.exchange(rank ^ step, rank ^ step);
    if (stands_in) signals_.send(rank + power_, after);
  }

 private:
  static constexpr int before = 1;
  static constexpr int after = 2;

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
      const int power = largest_power(ranks), over = ranks - power, rounds = rounds_of_two(power);
      // With many ranks beyond the power of two, a path from one of them through all rounds ends at another.
      const int beyond = over == 0 ? 0 : 2 * over > power ? 2 : 1;
      return {static_cast<long>(power) * rounds + 2L * over, rounds + beyond, 2 * rounds + (over ? 2 : 0)};
    },
    make_barrier_of<RecursiveDoubling>,
    TrialOrder{.alone = 0, .one_node = 0, .oversubscribed = 0, .several_nodes = 5}};

}  // namespace hockney::sync
