// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::nodes {

inline constexpr Metric rank_metrics[] = {{.name = "rank_time",
                                           .unit = "s",
                                           .over_ranks = OverRanks::each,
                                           .per = Per::repetition,
                                           .help = "time of the operation on each rank"}};

// The same operation on every rank, without communication; each rank times its own.
class TimedRank : public Workload {
 public:
  void prepare(int count) final {
    runs_ = remaining_ = count;
    elapsed_s_ = 0;
  }
  void run() final {
    if (remaining_ == runs_) start_s_ = now();
    operate();
    if (--remaining_ == 0) elapsed_s_ = now() - start_s_;
  }
  bool keeps_payload() const final { return true; }
  void sample(MetricValues& values) final { values.set("rank_time", runs_ > 0 ? elapsed_s_ / runs_ : 0); }

 protected:
  virtual void operate() = 0;

 private:
  int runs_ = 0;       // of this repetition
  int remaining_ = 0;  // of these runs
  double start_s_ = 0;
  double elapsed_s_ = 0;
};

}  // namespace hockney::nodes
