// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

// Each rank signals to every other one and waits for all of them.
class TotalExchange final : public Barrier {
 public:
  explicit TotalExchange(MPI_Comm comm)
      : signals_(comm), requests_(2 * static_cast<std::size_t>(signals_.size() - 1)) {}

  void wait() override {
    const int size = signals_.size();
    std::size_t k = 0;
    for (int away = 1; away < size; ++away)
      requests_[k++] = signals_.expect((signals_.rank() + size - away) % size);
    for (int away = 1; away < size; ++away) requests_[k++] = signals_.start((signals_.rank() + away) % size);
    signals_.finish_all(requests_);
  }

 private:
  const Signals signals_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

extern constinit const BarrierAlgorithm total_exchange{"total_exchange",
                                                       "each signals to every other rank and waits for all",
                                                       "Krishnamurthy, Performance of Barriers (1998)",
                                                       Signalling::messages,
                                                       [](int ranks) -> Traffic {
                                                         return {static_cast<long>(ranks) * (ranks - 1),
                                                                 ranks > 1 ? 1 : 0, 2 * (ranks - 1)};
                                                       },
                                                       make_barrier_of<TotalExchange>,
                                                       never_tried};

}  // namespace hockney::sync
