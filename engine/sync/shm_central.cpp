// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/shared.hpp"
#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

// A counter that each rank increments; the last one resets it and reverses the sense for which the others
// wait.
class ShmCentral final : public Barrier {
 public:
  explicit ShmCentral(MPI_Comm comm) : flags_(comm, 2) {}

  void wait() override {
    sense_ ^= 1U;
    if (count().value.fetch_add(1, std::memory_order_acq_rel) == last_) {
      count().value.store(0, std::memory_order_relaxed);
      flags_.set(sense(), sense_);
    } else {
      flags_.wait_until_equal(sense(), sense_);
    }
  }

 private:
  Flag& count() { return flags_.of(0, 0); }
  Flag& sense() { return flags_.of(0, 1); }

  const SharedFlags flags_;
  const std::uint32_t last_ = static_cast<std::uint32_t>(flags_.size() - 1);
  std::uint32_t sense_ = 0;
};

}  // namespace

extern constinit const BarrierAlgorithm shm_central{
    "shm_central",
    "a counter in shared memory; the last rank turns the sense over",
    "Mellor-Crummey, Scott (1991), algorithm 7",
    Signalling::shared_memory,
    [](int ranks) -> Traffic {
      static_cast<void>(ranks);
      return {};
    },
    make_barrier_of<ShmCentral>,
    TrialOrder{.single_rank = 0, .one_node = 3, .oversubscribed = 1, .multiple_nodes = 0}};

}  // namespace hockney::sync
