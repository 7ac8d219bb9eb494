// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "sync/algorithm.hpp"
#include "sync/tree.hpp"

namespace hockney::sync {
namespace {

// Arrivals as in the MCS tree. The wake-up is a broadcast of one byte, whose messages MPI determines.
class McsTreeBcast final : public Barrier {
 public:
  explicit McsTreeBcast(MPI_Comm comm)
      : signals_(comm), tree_{signals_.rank(), signals_.size(), arrival_arity} {}

  void wait() override {
    for (int child = tree_.first_child(); child < tree_.children_end(); ++child) signals_.receive(child);
    if (!tree_.root()) signals_.send(tree_.parent());
    signals_.broadcast_from(0);
  }

 private:
  const Signals signals_;
  const Tree tree_;
};

}  // namespace

extern constinit const BarrierAlgorithm mcs_tree_bcast{
    "mcs_tree_bcast",
    "arrivals up a tree of 4 children a rank, wake-up by MPI_Bcast",
    "Krishnamurthy, Performance of Barriers (1998)",
    Signalling::messages,
    [](int ranks) -> Traffic {
      return {2L * (ranks - 1), Tree::height(ranks, arrival_arity) + binomial_height(ranks),
              Tree::max_children(ranks, arrival_arity) + doubling_rounds(ranks)};
    },
    make_barrier_of<McsTreeBcast>,
    never_tried};

}  // namespace hockney::sync
