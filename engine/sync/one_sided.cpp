// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <new>

#include "comm/shared.hpp"
#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

using Count = std::atomic<std::uint64_t>;
static_assert(sizeof(Count) == sizeof(std::uint64_t) && Count::is_always_lock_free);

// Dissemination by MPI_Put into the other rank's memory, which that rank polls. The flags count episodes.
class OneSided final : public Barrier {
 public:
  explicit OneSided(MPI_Comm comm) : signals_(comm) {
    require_shared_memory();
    const int rounds = doubling_rounds(signals_.size()) + 1;
    window_ = make_window(signals_.handle(), signals_.wait_policy(), [&](MPI_Win* window) {
      return MPI_Win_allocate(static_cast<MPI_Aint>(rounds * sizeof(Count)), sizeof(Count), MPI_INFO_NULL,
                              signals_.handle(), &flags_, window);
    });
    // Puts must arrive in the memory that is polled.
    if (!signals_.wait_policy().all_agree(unified(), signals_.handle())) {
      MPI_Win_free(&window_);
      throw InvalidCase("this MPI's windows keep two copies of memory, so that it cannot be polled");
    }
    for (int round = 0; round < rounds; ++round) new (&flags_[round]) Count{0};
    MPI_Barrier(signals_.handle());
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  }
  ~OneSided() override {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }

  void wait() override {
    const int rank = signals_.rank(), size = signals_.size();
    ++episode_;
    // The rank's own writes must be visible before its Put, which does not order them.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    MPI_Win_sync(window_);
    for (int step = 1, round = 0; step < size; step <<= 1, ++round) {
      const int target = (rank + step) % size;
      MPI_Put(&episode_, 1, MPI_UINT64_T, target, round, 1, MPI_UINT64_T, window_);
      MPI_Win_flush(target, window_);
      signals_.wait_policy().until([&] {
        if (flags_[round].load(std::memory_order_acquire) >= episode_) return true;
        // A Put that needs this rank's progress gets it only inside MPI.
        int has_message = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, signals_.handle(), &has_message, MPI_STATUS_IGNORE);
        MPI_Win_sync(window_);
        return false;
      });
    }
  }

 private:
  bool unified() const {
    int* model = nullptr;
    int is_known = 0;
    MPI_Win_get_attr(window_, MPI_WIN_MODEL, &model, &is_known);
    return is_known && *model == MPI_WIN_UNIFIED;
  }

  const Signals signals_;
  MPI_Win window_ = MPI_WIN_NULL;
  Count* flags_ = nullptr;
  std::uint64_t episode_ = 0;
};

}  // namespace

extern constinit const BarrierAlgorithm one_sided{
    "one_sided",
    "dissemination by MPI_Put to flags that count episodes",
    "after Hensgen, Finkel, Manber (1988); MPI-4.1, 12",
    Signalling::one_sided,
    [](int ranks) -> Traffic {
      const int rounds = doubling_rounds(ranks);
      return {static_cast<long>(ranks) * rounds, rounds, 2 * rounds};
    },
    make_barrier_of<OneSided>,
    TrialOrder{.single_rank = 0, .one_node = 5, .oversubscribed = 4, .multiple_nodes = 9}};

}  // namespace hockney::sync
