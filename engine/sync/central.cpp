// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

// All ranks signal to rank 0, which answers all. Krishnamurthy calls it "N-way".
class Central final : public Barrier {
 public:
  explicit Central(MPI_Comm comm) : signals_(comm) {}

  void wait() override {
    if (signals_.rank() == 0) {
      for (int other_number = 1; other_number < signals_.size(); ++other_number)
        signals_.receive(other_number, arrived);
      for (int other_number = 1; other_number < signals_.size(); ++other_number)
        signals_.send(other_number, awake);
    } else {
      signals_.send(0, arrived);
      signals_.receive(0, awake);
    }
  }

 private:
  static constexpr int arrived = 0;
  static constexpr int awake = 1;

  const Signals signals_;
};

}  // namespace

extern constinit const BarrierAlgorithm central{
    "central",
    "all signal to rank 0, which answers all (N-way)",
    "Krishnamurthy, Performance of Barriers (1998)",
    Signalling::messages,
    [](int ranks) -> Traffic { return {2L * (ranks - 1), ranks > 1 ? 2 : 0, 2 * (ranks - 1)}; },
    make_barrier_of<Central>,
    never_tried};

}  // namespace hockney::sync
