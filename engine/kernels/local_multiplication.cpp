// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/local_base.hpp"

namespace hockney::kernels {
namespace {

// C = C + A B with small integers, so that the result is exact.
template <class T>
class LocalMultiplication final : public LocalBase {
 public:
  explicit LocalMultiplication(const Values& values)
      : LocalBase(values),
        sizes_(values),
        a_(sizes_.n * sizes_.k),
        b_(sizes_.k * sizes_.m),
        c_(sizes_.n * sizes_.m) {}

  void prepare(int count) override {
    std::fill(c_.begin(), c_.end(), T{0});
    runs_ = count;
  }
  void fill(const Payload& payload) override {
    seed_ = payload.seed;
    for (std::size_t i = 0; i < a_.size(); ++i) a_[i] = element(i);
    for (std::size_t i = 0; i < b_.size(); ++i) b_[i] = element(a_.size() + i);
  }
  // All runs since the preparation have added the same product.
  Check verify(const Payload&) override {
    const Check found =
        check_some("product", 64, c_.size(), sizeof(T), seed_ + ++checks_, [this](std::size_t place) {
          double sum = 0;
          for (std::size_t k = 0; k < sizes_.k; ++k)
            sum += static_cast<double>(a_[place / sizes_.m * sizes_.k + k]) *
                   static_cast<double>(b_[k * sizes_.m + place % sizes_.m]);
          return static_cast<double>(c_[place]) == sum * runs_;
        });
    std::fill(c_.begin(), c_.end(), T{-1});
    return found;
  }
  std::uint64_t bytes_moved() const override { return 0; }

 private:
  T element(std::size_t number) const {
    return static_cast<T>(static_cast<int>(mix(seed_ ^ number) >> 62) - 1);
  }
  void compute() override {
    local::multiply_add({a_.data(), sizes_.n, sizes_.k, sizes_.k}, {b_.data(), sizes_.k, sizes_.m, sizes_.m},
                        local::Matrix<T>{c_.data(), sizes_.n, sizes_.m, sizes_.m});
  }
  double operation_count() const override {
    return 2.0 * static_cast<double>(sizes_.n) * static_cast<double>(sizes_.m) *
           static_cast<double>(sizes_.k);
  }
  const char* library() const override { return local::multiplication(); }

  const Sizes sizes_;
  std::vector<T> a_;
  std::vector<T> b_;
  std::vector<T> c_;
  int runs_ = 0;
  std::uint64_t checks_ = 0;
  std::uint64_t seed_ = 0;
};

std::unique_ptr<Workload> make_local_multiplication(const Place&, const Values& values) {
  if (values.word("type") == "double") return std::make_unique<LocalMultiplication<double>>(values);
  return std::make_unique<LocalMultiplication<float>>(values);
}

constexpr Parameter local_multiplication_parameters[] = {
    product_n,
    product_m,
    product_k,
    {"type", Kind::choice, "", "double", 0, 0, "double|float", "type of the elements: 8 or 4 bytes"},
    local_rate_parameter,
    parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo local_multiplication{
    .name = "local_multiplication",
    .role = "local",
    .operation = "multiplication",
    .size = "n",
    .help = "every rank multiplies matrices by itself: 2 n m k operations",
    .time = "one product, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = local_multiplication_parameters,
    .metrics = local_metrics,
    .make = make_local_multiplication,
};

}  // namespace hockney::kernels
