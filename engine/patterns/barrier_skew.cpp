// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/barriers.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class Skew final : public Workload {
 public:
  Skew(const Place& place, const Values& values) : barrier_(make_chosen_barrier(place, values)) {}

  void run() override { barrier_->wait(); }

 private:
  const std::unique_ptr<Barrier> barrier_;
};

constexpr Parameter barrier_skew_parameters[] = {parameters::algorithm, parameters::sync_barrier};

}  // namespace

extern constinit const WorkloadInfo barrier_skew{
    .name = "barrier_skew",
    .role = "arrival",
    .operation = "barrier",
    .help = "spread of the times at which the ranks leave a barrier",
    .time = "from the first rank's exit to the last rank's exit",
    .min_ranks = 1,
    .timing = Timing::exits,
    .parameters = barrier_skew_parameters,
    .make = make<Skew>,
};

}  // namespace hockney::patterns
