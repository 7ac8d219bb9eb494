// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

// Each rank in turn broadcasts one byte to all others; a rank that has received all of them leaves.
class TotalExchangeBcast final : public Barrier {
 public:
  explicit TotalExchangeBcast(MPI_Comm comm) : signals_(comm) {}

  void wait() override {
    for (int root = 0; root < signals_.size(); ++root) signals_.broadcast_from(root);
  }

 private:
  const Signals signals_;
};

}  // namespace

extern constinit const BarrierAlgorithm total_exchange_bcast{
    "total_exchange_bcast",
    "each rank in turn tells all others by MPI_Bcast",
    "Krishnamurthy, Performance of Barriers (1998)",
    Signalling::messages,
    [](int ranks) -> Traffic {
      return {static_cast<long>(ranks) * (ranks - 1), ranks * doubling_rounds(ranks),
              ranks * doubling_rounds(ranks)};
    },
    make_barrier_of<TotalExchangeBcast>,
    never_tried};

}  // namespace hockney::sync
