// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>

#include "kernels/sort_base.hpp"

namespace hockney::kernels {
namespace {

// Batcher's bitonic sort of p = 2^q blocks: each rank sorts its block, then pairs of ranks merge their blocks
// and keep half each, in q (q + 1) / 2 steps.
template <class T>
class BitonicSort final : public SortBase<T> {
  using Base = SortBase<T>;
  using Base::comm_, Base::keys_, Base::ledger_, Base::count_merged, Base::sort_local_keys, Base::sorted_;

 public:
  BitonicSort(const Place& place, const Values& values) : Base(place, values), merged_keys_(keys_) {
    for (std::vector<T>& other : partner_keys_) other.resize(keys_);
    if (!std::has_single_bit(static_cast<unsigned>(comm_.size)))
      throw InvalidCase("a bitonic sort needs a power of two of ranks, not " + std::to_string(comm_.size));
  }

 private:
  void register_areas(bsp::Process& bsp) override {
    for (std::size_t i = 0; i < areas_.size(); ++i) areas_[i].emplace(bsp, std::span(partner_keys_[i]));
  }

  // `exchange(partner)` sends sorted_ to the partner, and receives other() from it.
  template <class Exchange>
  void run_with(Exchange exchange) {
    sort_local_keys();
    for (int size = 2; size <= comm_.size; size *= 2)
      for (int distance = size / 2; distance > 0; distance /= 2) {
        const int partner = comm_.rank ^ distance;
        parity_ = 1 - parity_;
        exchange(partner);
        const bool ascending = (comm_.rank & size) == 0;
        merge_half((comm_.rank < partner) == ascending);
      }
    this->set_result(sorted_, keys_ * static_cast<std::uint64_t>(comm_.rank));
  }

  void run_bsp(bsp::Process& bsp) override {
    run_with([&](int partner) {
      this->template put<T>(bsp, partner, sorted_, *areas_[parity_], 0);
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
      ledger_.end_computing();
      MPI_Sendrecv(sorted_.data(), block.count, block.type, partner, tag, other().data(), block.count,
                   block.type, partner, tag, comm_.handle, MPI_STATUS_IGNORE);
      ledger_.end_superstep(block.bytes, block.bytes, 1, 1);
    });
  }

  std::vector<T>& other() { return partner_keys_[parity_]; }

  // Merges the lower or the upper half of sorted_ and other().
  void merge_half(bool lower) {
    const std::span<const T> own_keys(sorted_);
    const std::span<const T> partner_keys(other());
    const std::size_t own_count = local::count_from_first(own_keys, partner_keys, keys_);
    const std::size_t partner_count = keys_ - own_count;
    if (lower)
      local::merge(own_keys.first(own_count), partner_keys.first(partner_count), merged_keys_.data());
    else
      local::merge(own_keys.subspan(own_count), partner_keys.subspan(partner_count), merged_keys_.data());
    sorted_.swap(merged_keys_);
    count_merged(keys_);
  }

  // Two, used in turn: unbuffered puts may arrive while the previous keys are still being merged.
  std::array<std::vector<T>, 2> partner_keys_;
  std::array<std::optional<bsp::Area<T>>, 2> areas_;
  std::size_t parity_ = 0;
  std::vector<T> merged_keys_;
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
