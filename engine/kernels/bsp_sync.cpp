// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "hockney/bsp.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::kernels {
namespace {

class BspSync final : public Workload {
 public:
  BspSync(const Place& place, const Values&) : comm_(place.comm) {}

  void prepare(int) override {
    if (!bsp_) bsp_.emplace(comm_.handle);
  }
  void run() override { bsp_->sync(); }

 private:
  const Comm& comm_;
  std::optional<bsp::Process> bsp_;
};

constexpr Parameter bsp_sync_parameters[] = {parameters::sync};

}  // namespace

extern constinit const WorkloadInfo bsp_sync{
    .name = "bsp_sync",
    .role = "bsp",
    .operation = "synchronisation",
    .help = "superstep of BSPlib without communication",
    .time = "one superstep, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = bsp_sync_parameters,
    .make = make<BspSync>,
};

}  // namespace hockney::kernels
