// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "base/clock.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::startup {

// Base class of workloads that create and free an object in each run.
class MakingBase : public Workload {
 public:
  explicit MakingBase(const Place& place) : comm_(place.comm) {}

  void sample(MetricValues& values) override {
    values.set("making", std::exchange(making_s_, 0));
    values.set("freeing", std::exchange(freeing_s_, 0));
  }

 protected:
  template <class Make, class Release>
  void timed(Make make, Release release) {
    const double start_s = now();
    make();
    const double end_s = now();
    release();
    making_s_ += end_s - start_s;
    freeing_s_ += now() - end_s;
  }

  // Compares the sum of all rank numbers over the communicator with the expected value. Collective.
  Check check_sum(MPI_Comm comm, std::int64_t expected) const {
    std::int64_t sum = comm_.rank + 1;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, comm);
    if (sum == expected) return {sizeof sum, 0, ""};
    return {sizeof sum, 1, "the sum over the ranks is " + std::to_string(sum)};
  }

  const Comm& comm_;

 private:
  double making_s_ = 0;
  double freeing_s_ = 0;
};

inline constexpr Metric making_metrics[] = {
    {"making", "s", OverRanks::max, Per::repetition, true, "time of the call that creates the object"},
    {"freeing", "s", OverRanks::max, Per::repetition, true, "time of the call that frees it"},
};

inline constexpr const char* making_and_freeing = "creating and freeing, the maximum over the ranks";

}  // namespace hockney::startup
