// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/shared.hpp"
#include "sync/algorithm.hpp"
#include "sync/tree.hpp"

namespace hockney::sync {
namespace {

// The MCS tree with flags in shared memory. Each rank has one flag to signal that its subtree has arrived,
// and one that wakes it up; both count episodes.
class ShmTree final : public Barrier {
 public:
  explicit ShmTree(MPI_Comm comm)
      : flags_(comm, 2),
        arrival_{flags_.rank(), flags_.size(), arrival_arity},
        wake_up_{flags_.rank(), flags_.size(), wake_up_arity} {}

  void wait() override {
    ++episode_;
    for (int child = arrival_.first_child(); child < arrival_.children_end(); ++child)
      flags_.wait_until_equal(flags_.of(child, arrived), episode_);
    if (!arrival_.root()) {
      flags_.set(flags_.of(flags_.rank(), arrived), episode_);
      flags_.wait_until_equal(flags_.of(flags_.rank(), awake), episode_);
    }
    for (int child = wake_up_.first_child(); child < wake_up_.children_end(); ++child)
      flags_.set(flags_.of(child, awake), episode_);
  }

 private:
  static constexpr int arrived = 0;
  static constexpr int awake = 1;

  const SharedFlags flags_;
  const Tree arrival_;
  const Tree wake_up_;
  std::uint32_t episode_ = 0;
};

}  // namespace

extern constinit const BarrierAlgorithm shm_tree{
    "shm_tree",
    "MCS tree on flags in shared memory that count episodes",
    "Mellor-Crummey, Scott (1991), algorithm 11",
    Signalling::shared_memory,
    [](int ranks) -> Traffic {
      static_cast<void>(ranks);
      return {};
    },
    make_barrier_of<ShmTree>,
    TrialOrder{.single_rank = 0, .one_node = 4, .oversubscribed = 3, .multiple_nodes = 0}};

}  // namespace hockney::sync
