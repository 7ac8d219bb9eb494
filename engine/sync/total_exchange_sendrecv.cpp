// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

// Total exchange as P - 1 steps of MPI_Sendrecv, each with different partners.
class TotalExchangeSendrecv final : public Barrier {
 public:
  explicit TotalExchangeSendrecv(MPI_Comm comm) : signals_(comm) {}

  void wait() override {
    const int size = signals_.size();
    for (int away = 1; away < size; ++away)
      signals_.send_receive((signals_.rank() + away) % size, (signals_.rank() + size - away) % size);
  }

 private:
  const Signals signals_;
};

}  // namespace

extern constinit const BarrierAlgorithm total_exchange_sendrecv{
    "total_exchange_sendrecv",
    "total exchange as P - 1 steps of MPI_Sendrecv",
    "Krishnamurthy, Performance of Barriers (1998)",
    Signalling::messages,
    [](int ranks) -> Traffic { return {static_cast<long>(ranks) * (ranks - 1), ranks - 1, 2 * (ranks - 1)}; },
    make_barrier_of<TotalExchangeSendrecv>,
    never_tried};

}  // namespace hockney::sync
