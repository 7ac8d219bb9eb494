// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/computing.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::patterns {
namespace {

class Compute final : public Workload {
 public:
  Compute(const Place&, const Values& values) : computing_(values.real("work")) {}

  void prepare(int) override { computing_.recheck(); }
  void run() override { computing_.run(); }
  std::optional<double> computing_s() const override { return computing_.preset_s(); }
  void report(MetricValues& values) override { report_computing(values, computing_); }

 private:
  Computing computing_;
};

constexpr Parameter compute_parameters[] = {parameters::work("processor time that each rank consumes"),
                                            parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo compute{
    .name = "compute",
    .role = "compute",
    .operation = "compute",
    .size = "work",
    .help = "each rank consumes a preset amount of processor time",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = compute_parameters,
    .metrics = computing_metrics,
    .make = make<Compute>,
};

}  // namespace hockney::patterns
