// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/local_base.hpp"
#include "kernels/sort_base.hpp"

namespace hockney::kernels {
namespace {

template <class T>
class LocalMerge final : public LocalBase {
 public:
  LocalMerge(const Place&, const Values& values)
      : LocalBase(values),
        input_(static_cast<std::size_t>(values.integer("keys"))),
        count_merged_(input_.size()) {}

  // Writes two sorted halves.
  void fill(const Payload& payload) override {
    const Keys<T> keys(input_.size(), "uniform", payload.seed);
    for (std::size_t i = 0; i < input_.size(); ++i) input_[i] = keys.input(i);
    std::sort(input_.begin(), middle());
    std::sort(middle(), input_.end());
  }
  Check verify(const Payload& payload) override {
    const Check found = Keys<T>(input_.size(), "uniform", payload.seed).check(count_merged_, 0);
    std::reverse(count_merged_.begin(), count_merged_.end());
    return found;
  }
  std::uint64_t bytes_moved() const override { return input_.size() * sizeof(T); }

 private:
  auto middle() { return input_.begin() + static_cast<std::ptrdiff_t>(input_.size() / 2); }
  void compute() override {
    const std::span<const T> keys(input_);
    local::merge(keys.first(keys.size() / 2), keys.subspan(keys.size() / 2), count_merged_.data());
  }
  double operation_count() const override { return static_cast<double>(input_.size()); }

  std::vector<T> input_;
  std::vector<T> count_merged_;
};

constexpr Parameter local_merge_parameters[] = {keys_of("4096", "keys of the result on each rank"),
                                                key_type_parameter, local_rate_parameter,
                                                parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo local_merge{
    .name = "local_merge",
    .role = "local",
    .operation = "merge",
    .size = "keys",
    .help = "every rank merges two sorted halves by itself: an operation for each key",
    .time = "one merge, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = local_merge_parameters,
    .metrics = local_metrics,
    .make = make_sort<LocalMerge>,
};

}  // namespace hockney::kernels
