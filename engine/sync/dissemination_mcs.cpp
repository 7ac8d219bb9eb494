// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

// Dissemination whose flags are never reset: two sets alternate (parity), and the meaning of a flag is
// inverted every second episode (sense). A message may arrive an episode early and is kept in its flag.
class DisseminationMcs final : public Barrier {
 public:
  explicit DisseminationMcs(MPI_Comm comm) : signals_(comm) {}

  void wait() override {
    const int size = signals_.size();
    for (int step = 1, round = 0; step < size; step <<= 1, ++round) {
      MPI_Request send = signals_.start((signals_.rank() + step) % size, tag(round));
      while (flags_[parity_][round] != sense_) keep(signals_.receive_any());
      signals_.finish(send);
    }
    if (parity_ == 1) sense_ = !sense_;
    parity_ = 1 - parity_;
  }

 private:
  int tag(int round) const { return round * 4 + parity_ * 2 + (sense_ ? 1 : 0); }
  void keep(int tag) { flags_[tag / 2 % 2][tag / 4] = tag % 2 == 1; }

  const Signals signals_;
  int parity_ = 0;
  bool sense_ = true;
  std::array<std::array<bool, max_rounds>, 2> flags_{};
};

}  // namespace

extern constinit const BarrierAlgorithm dissemination_mcs{
    "dissemination_mcs",
    "dissemination, its flags kept by parity and sense and never set back",
    "Mellor-Crummey, Scott, Algorithms for Scalable Synchronization (1991), algorithm 9",
    Signalling::messages,
    [](int ranks) -> Traffic {
      const int rounds = doubling_rounds(ranks);
      return {static_cast<long>(ranks) * rounds, rounds, 2 * rounds};
    },
    make_barrier_of<DisseminationMcs>,
    never_tried};

}  // namespace hockney::sync
