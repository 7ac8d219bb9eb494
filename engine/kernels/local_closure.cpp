// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/graph.hpp"
#include "kernels/local_base.hpp"

namespace hockney::kernels {
namespace {

class LocalClosure final : public LocalBase {
 public:
  LocalClosure(const Place&, const Values& values)
      : LocalBase(values),
        n_(static_cast<std::size_t>(values.integer("n"))),
        input_(n_ * n_),
        paths_(input_.size()) {}

  void fill(const Payload& payload) override {
    const Graph graph(n_, payload.seed);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j) input_[i * n_ + j] = graph.length(i, j);
  }
  Check verify(const Payload& payload) override {
    const Check found = Graph(n_, payload.seed).check(paths_.data(), 0, n_, 0, n_, payload, ++checks_);
    std::fill(paths_.begin(), paths_.end(), -1.0F);
    return found;
  }
  std::uint64_t bytes_moved() const override { return 0; }

 private:
  void compute() override {
    std::copy(input_.begin(), input_.end(), paths_.begin());
    local::close_paths({paths_.data(), n_, n_, n_});
  }
  double operation_count() const override { return std::pow(static_cast<double>(n_), 3); }

  const std::size_t n_;
  std::vector<float> input_;
  std::vector<float> paths_;
  std::uint64_t checks_ = 0;
};

constexpr Parameter local_closure_parameters[] = {
    {"n", Kind::integer, "", "128", 1, 1e6, "", "nodes of each rank's graph"},
    local_rate_parameter,
    parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo local_closure{
    .name = "local_closure",
    .role = "local",
    .operation = "closure",
    .size = "n",
    .help = "every rank computes the shortest paths of a graph by itself: n^3 additions, each with a minimum",
    .time = "all paths, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = local_closure_parameters,
    .metrics = local_metrics,
    .make = make<LocalClosure>,
};

}  // namespace hockney::kernels
