// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/barriers.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class BackToBack final : public Workload {
 public:
  BackToBack(const Place& place, const Values& values)
      : barrier_(make_chosen_barrier(place, values)),
        iterations_(static_cast<int>(values.integer("iterations"))) {}

  void run() override { barrier_->wait(); }
  int back_to_back() const override { return iterations_; }

 private:
  const std::unique_ptr<Barrier> barrier_;
  const int iterations_;
};

constexpr Parameter barrier_parameters[] = {
    parameters::algorithm,
    {"iterations", Kind::integer, "", "1", 1, 1e9, "",
     "minimum number of back-to-back barriers between two readings of the clock"},
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo barrier{
    .name = "barrier",
    .role = "barrier",
    .operation = "barrier",
    .help = "MPI_Barrier, or one of hockney's barriers",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = barrier_parameters,
    .make = make<BackToBack>,
};

}  // namespace hockney::patterns
