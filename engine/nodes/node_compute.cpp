// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include "nodes/timed_rank.hpp"

namespace hockney::nodes {
namespace {

// x = x / 2 + y on numbers in the first-level cache, which compilers vectorise: two operations per element.
class NodeCompute final : public TimedRank {
 public:
  NodeCompute(const Place&, const Values& values)
      : sweeps_(static_cast<long>(std::ceil(values.real("operations") / (2 * elements)))) {}

  void fill(const Payload& payload) override {
    limit_ = static_cast<double>(2 + payload.seed % 1024);
    x_.fill(0);
    y_.fill(limit_ / 2);
  }
  Check verify(const Payload&) override {
    Check check{sizeof x_, 0, ""};
    const double remainder = std::pow(0.5, static_cast<double>(sweeps_));
    for (const double x : x_)
      if (!(std::abs(x - limit_) <= limit_ * (remainder + 1e-12))) ++check.errors;
    if (check.errors) check.first = "the result of the computation";
    return check;
  }

 private:
  static constexpr std::size_t elements = 1024;

  void operate() override {
    for (long sweep = 0; sweep < sweeps_; ++sweep)
      for (std::size_t i = 0; i < elements; ++i) x_[i] = 0.5 * x_[i] + y_[i];
  }

  const long sweeps_;
  double limit_ = 0;
  alignas(64) std::array<double, elements> x_{};
  alignas(64) std::array<double, elements> y_{};
};

constexpr Parameter node_compute_parameters[] = {
    {"operations", Kind::real, "", "10000000", 1, 1e15, "", "floating-point operations of each rank"},
    parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo node_compute{
    .name = "node_compute",
    .role = "nodes",
    .operation = "multiply_add",
    .size = "operations",
    .help = "floating-point operations on all ranks at once",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .parameters = node_compute_parameters,
    .metrics = rank_metrics,
    .make = make<NodeCompute>,
};

}  // namespace hockney::nodes
