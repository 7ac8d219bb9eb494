// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "sync/algorithm.hpp"
#include "sync/tree.hpp"

namespace hockney::sync {
namespace {

// Arrivals go up a tree with four children per rank, the wake-up goes down a tree with two.
class McsTree final : public Barrier {
 public:
  explicit McsTree(MPI_Comm comm)
      : signals_(comm),
        arrival_{signals_.rank(), signals_.size(), arrival_arity},
        wake_up_{signals_.rank(), signals_.size(), wake_up_arity} {}

  void wait() override {
    for (int child = arrival_.first_child(); child < arrival_.children_end(); ++child)
      signals_.receive(child, arrived);
    if (!arrival_.root()) {
      signals_.send(arrival_.parent(), arrived);
      signals_.receive(wake_up_.parent(), awake);
    }
    for (int child = wake_up_.first_child(); child < wake_up_.children_end(); ++child)
      signals_.send(child, awake);
  }

 private:
  static constexpr int arrived = 0;
  static constexpr int awake = 1;

  const Signals signals_;
  const Tree arrival_;
  const Tree wake_up_;
};

}  // namespace

extern constinit const BarrierAlgorithm mcs_tree{
    "mcs_tree",
    "arrivals up a tree of 4 children a rank, wake-up down one of 2",
    "Mellor-Crummey, Scott (1991), algorithm 11",
    Signalling::messages,
    [](int ranks) -> Traffic {
      int max_per_rank = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const int above = rank == 0 ? 0 : 2;
        max_per_rank = std::max(max_per_rank, above + Tree{rank, ranks, arrival_arity}.children() +
                                                  Tree{rank, ranks, wake_up_arity}.children());
      }
      return {2L * (ranks - 1), Tree::height(ranks, arrival_arity) + Tree::height(ranks, wake_up_arity),
              max_per_rank};
    },
    make_barrier_of<McsTree>,
    never_tried};

}  // namespace hockney::sync
