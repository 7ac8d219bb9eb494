// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/local_base.hpp"

namespace hockney::kernels {
namespace {

// Path lengths are small integers, so that the result is exact.
class LocalMinPlus final : public LocalBase {
 public:
  LocalMinPlus(const Place&, const Values& values)
      : LocalBase(values),
        sizes_(values),
        first_(sizes_.n * sizes_.k),
        second_(sizes_.k * sizes_.m),
        paths_(sizes_.n * sizes_.m, local::no_path) {}

  void fill(const Payload& payload) override {
    seed_ = payload.seed;
    for (std::size_t i = 0; i < first_.size(); ++i) first_[i] = element(i);
    for (std::size_t i = 0; i < second_.size(); ++i) second_[i] = element(first_.size() + i);
    std::fill(paths_.begin(), paths_.end(), local::no_path);
  }
  Check verify(const Payload&) override {
    const Check found =
        check_some("paths", 64, paths_.size(), sizeof(float), seed_ + ++checks_, [this](std::size_t place) {
          float min_elements = local::no_path;
          for (std::size_t k = 0; k < sizes_.k; ++k)
            min_elements = std::min(min_elements, first_[place / sizes_.m * sizes_.k + k] +
                                                      second_[k * sizes_.m + place % sizes_.m]);
          return paths_[place] == min_elements;
        });
    std::fill(paths_.begin(), paths_.end(), local::no_path);
    return found;
  }
  std::uint64_t bytes_moved() const override { return 0; }

 private:
  float element(std::size_t number) const { return static_cast<float>(mix(seed_ ^ number) >> 48); }
  void compute() override {
    local::min_plus({first_.data(), sizes_.n, sizes_.k, sizes_.k},
                    {second_.data(), sizes_.k, sizes_.m, sizes_.m},
                    {paths_.data(), sizes_.n, sizes_.m, sizes_.m});
  }
  double operation_count() const override {
    return static_cast<double>(sizes_.n) * static_cast<double>(sizes_.m) * static_cast<double>(sizes_.k);
  }

  const Sizes sizes_;
  std::vector<float> first_;
  std::vector<float> second_;
  std::vector<float> paths_;
  std::uint64_t seed_ = 0;
  std::uint64_t checks_ = 0;
};

constexpr Parameter local_min_plus_parameters[] = {product_n, product_m, product_k, local_rate_parameter,
                                                   parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo local_min_plus{
    .name = "local_min_plus",
    .role = "local",
    .operation = "min-plus",
    .size = "n",
    .help = "every rank extends paths by itself: n m k additions, each with a minimum",
    .time = "one product of minima and sums, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = local_min_plus_parameters,
    .metrics = local_metrics,
    .make = make<LocalMinPlus>,
};

}  // namespace hockney::kernels
