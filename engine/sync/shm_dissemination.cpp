// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/shared.hpp"
#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

// Dissemination on flags in shared memory. Each flag counts episodes, so that none is ever reset: a signal
// cannot be more than one episode early, and the count identifies its episode.
class ShmDissemination final : public Barrier {
 public:
  explicit ShmDissemination(MPI_Comm comm) : flags_(comm, rounds_of(comm)) {}

  void wait() override {
    const int rank = flags_.rank(), size = flags_.size();
    ++episode_;
    for (int step = 1, round = 0; step < size; step <<= 1, ++round) {
      const int to = rank + step < size ? rank + step : rank + step - size;
      flags_.set(flags_.of(to, round), episode_);
      flags_.wait_until_at_least(flags_.of(rank, round), episode_);
    }
  }

 private:
  static int rounds_of(MPI_Comm comm) {
    int size = 1;
    MPI_Comm_size(comm, &size);
    return doubling_rounds(size) + 1;
  }

  const SharedFlags flags_;
  std::uint32_t episode_ = 0;
};

}  // namespace

extern constinit const BarrierAlgorithm shm_dissemination{
    "shm_dissemination",
    "dissemination on flags in shared memory that count episodes",
    "after Hensgen, Finkel, Manber (1988)",
    Signalling::shared_memory,
    [](int ranks) -> Traffic {
      static_cast<void>(ranks);
      return {};
    },
    make_barrier_of<ShmDissemination>,
    TrialOrder{.single_rank = 0, .one_node = 1, .oversubscribed = 5, .multiple_nodes = 0}};

}  // namespace hockney::sync
