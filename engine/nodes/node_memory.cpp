// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <new>
#include <string>
#include <vector>

#include "base/invalid_case.hpp"
#include "nodes/timed_rank.hpp"

namespace hockney::nodes {
namespace {

// The triad of STREAM (McCalpin 1995): two arrays are read and one is written.
class NodeMemory final : public TimedRank {
 public:
  NodeMemory(const Place&, const Values& values) : elements_(values.bytes() / sizeof(double)) {
    try {
      a_.resize(elements_);
      b_.resize(elements_);
      c_.resize(elements_);
    } catch (const std::bad_alloc&) {
      throw OutOfMemory("three arrays of " + std::to_string(values.bytes()) + " bytes");
    }
  }

  void fill(const Payload& payload) override {
    first_ = static_cast<double>(payload.seed % 1024);
    for (std::size_t i = 0; i < elements_; ++i) {
      a_[i] = -1;
      b_[i] = first_ + static_cast<double>(i % 7);
      c_[i] = 2;
    }
  }
  Check verify(const Payload&) override {
    Check check{elements_ * sizeof(double), 0, ""};
    for (std::size_t i = 0; i < elements_; ++i)
      if (a_[i] != first_ + static_cast<double>(i % 7) + 2 * scale) ++check.errors;
    if (check.errors) check.first = "the result of the triad";
    return check;
  }
  std::uint64_t bytes_moved() const override { return 3 * elements_ * sizeof(double); }

 private:
  static constexpr double scale = 3;

  void operate() override {
    double* const a = a_.data();
    const double* const b = b_.data();
    const double* const c = c_.data();
    for (std::size_t i = 0; i < elements_; ++i) a[i] = b[i] + scale * c[i];
  }

  const std::size_t elements_;
  std::vector<double> a_, b_, c_;
  double first_ = 0;
};

constexpr Parameter node_memory_parameters[] = {
    {"bytes", Kind::integer, "B", "33554432", 0, parameters::largest_bytes, "",
     "bytes of each of a rank's three arrays", "8"},
    parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo node_memory{
    .name = "node_memory",
    .role = "nodes",
    .operation = "triad",
    .size = "bytes",
    .help = "the triad of STREAM on all ranks at once",
    .time = "the maximum over the ranks; the bandwidth is one rank's",
    .min_ranks = 1,
    .parameters = node_memory_parameters,
    .metrics = rank_metrics,
    .make = make<NodeMemory>,
};

}  // namespace hockney::nodes
