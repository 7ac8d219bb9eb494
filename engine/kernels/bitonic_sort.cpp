// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>

#include "kernels/sort_base.hpp"

namespace hockney::kernels {
namespace {

// Batcher's bitonic sort of p = 2^q blocks: each rank sorts its block, then pairs of ranks merge theirs and
// keep a half each, in q (q + 1) / 2 steps.
template <class T>
class BitonicSort final : public SortBase<T> {
  using Base = SortBase<T>;
  using Base::comm_, Base::keys_, Base::ledger_, Base::merged, Base::sort_own, Base::sorted_;

 public:
  BitonicSort(const Place& place, const Values& values) : Base(place, values), kept_(keys_) {
    for (std::vector<T>& other : others_) other.resize(keys_);
    if (!std::has_single_bit(static_cast<unsigned>(comm_.size)))
      throw InvalidCase("a bitonic sort needs a power of two of ranks, not " + std::to_string(comm_.size));
  }

 private:
  void register_areas(bsp::Process& bsp) override {
    for (std::size_t i = 0; i < areas_.size(); ++i) areas_[i].emplace(bsp, std::span(others_[i]));
  }

  // `exchange(partner)` sends sorted_ to the partner, and receives other() from it.
  template <class Exchange>
  void run_with(Exchange exchange) {
    sort_own();
    for (int size = 2; size <= comm_.size; size *= 2)
      for (int distance = size / 2; distance > 0; distance /= 2) {
        const int partner = comm_.rank ^ distance;
        turn_ = 1 - turn_;
        exchange(partner);
        const bool ascending = (comm_.rank & size) == 0;
        keep_half((comm_.rank < partner) == ascending);
      }
    this->done(sorted_, keys_ * static_cast<std::uint64_t>(comm_.rank));
  }

  void run_bsp(bsp::Process& bsp) override {
    run_with([&](int partner) {
      this->template put<T>(bsp, partner, sorted_, *areas_[turn_], 0);
      this->sync(bsp);
    });
  }

  void run_bpram(bpram::Process& bpram) override {
    run_with([&](int partner) { this->template exchange<T>(bpram, partner, sorted_, other()); });
  }

  void run_mpi() override {
    const Block block(keys_ * sizeof(T));
    run_with([&](int partner) {
      constexpr int tag = 1;
      ledger_.computed();
      MPI_Sendrecv(sorted_.data(), block.count, block.type, partner, tag, other().data(), block.count,
                   block.type, partner, tag, comm_.handle, MPI_STATUS_IGNORE);
      ledger_.communicated(block.bytes, block.bytes, 1, 1);
    });
  }

  std::vector<T>& other() { return others_[turn_]; }

  // The lower or the upper half of sorted_ and other().
  void keep_half(bool lower) {
    const std::span<const T> mine(sorted_);
    const std::span<const T> others(other());
    const std::size_t from_mine = local::share_of_first(mine, others, keys_);
    const std::size_t from_others = keys_ - from_mine;
    if (lower)
      local::merge(mine.first(from_mine), others.first(from_others), kept_.data());
    else
      local::merge(mine.subspan(from_mine), others.subspan(from_others), kept_.data());
    sorted_.swap(kept_);
    merged(keys_);
  }

  // Two, in turn: unbuffered puts may arrive while the previous keys are still being merged.
  std::array<std::vector<T>, 2> others_;
  std::array<std::optional<bsp::Area<T>>, 2> areas_;
  std::size_t turn_ = 0;
  std::vector<T> kept_;
};

constexpr Parameter bitonic_sort_parameters[] = {keys_of("4096", "keys of each rank"),
                                                 key_type_parameter,
                                                 distribution_parameter,
                                                 style_parameter,
                                                 packet_parameter,
                                                 sort_rate_parameter,
                                                 merge_rate_parameter,
                                                 parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo bitonic_sort{
    .name = "bitonic_sort",
    .role = "bsp-kernel",
    .operation = "bitonic sort",
    .size = "keys",
    .help = "bitonic sort of one block of keys per rank, on a power of two of ranks",
    .time = "one sort, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = bitonic_sort_parameters,
    .metrics = ledger_metrics,
    .make = make_sort<BitonicSort>,
};

}  // namespace hockney::kernels
