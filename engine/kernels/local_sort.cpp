// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/local_base.hpp"
#include "kernels/sort_base.hpp"

namespace hockney::kernels {
namespace {

// The keys are copied first, as in a parallel sort.
template <class T>
class LocalSort final : public LocalBase {
 public:
  LocalSort(const Place&, const Values& values)
      : LocalBase(values),
        distribution_(values.word("distribution")),
        input_(static_cast<std::size_t>(values.integer("keys"))),
        sorted_(input_.size()) {}

  void fill(const Payload& payload) override {
    const Keys<T> keys(input_.size(), distribution_, payload.seed);
    for (std::size_t i = 0; i < input_.size(); ++i) input_[i] = keys.input(i);
  }
  Check verify(const Payload& payload) override {
    const Check found = Keys<T>(input_.size(), distribution_, payload.seed).check(sorted_, 0);
    std::reverse(sorted_.begin(), sorted_.end());
    return found;
  }
  std::uint64_t bytes_moved() const override { return input_.size() * sizeof(T); }

 private:
  void compute() override {
    std::copy(input_.begin(), input_.end(), sorted_.begin());
    local::sort(std::span(sorted_));
  }
  double operation_count() const override { return sorting_operations(input_.size()); }
  const char* library() const override { return local::sorting(); }

  const std::string distribution_;
  std::vector<T> input_;
  std::vector<T> sorted_;
};

constexpr Parameter local_sort_parameters[] = {keys_of("4096", "keys of each rank"), key_type_parameter,
                                               distribution_parameter, local_rate_parameter,
                                               parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo local_sort{
    .name = "local_sort",
    .role = "local",
    .operation = "sort",
    .size = "keys",
    .help = "every rank sorts its keys by itself: m log2 m operations for m keys",
    .time = "one sort, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = local_sort_parameters,
    .metrics = local_metrics,
    .make = make_sort<LocalSort>,
};

}  // namespace hockney::kernels
