// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "measure/computing.hpp"
#include "measure/parameters.hpp"
#include "measure/ring_exchange.hpp"
#include "measure/shares.hpp"

namespace hockney::patterns {
namespace {

// One iteration of Hanebutte and Tatsumi (1996): the ranks share the work T, then each sends to its right
// neighbor and receives from its left. The serial part s T is done by rank 0 alone; the others wait for it
// only through its message, so that no additional message is needed:
//
//   rank 0      s T + b_0 (1 - s) T / np
//   rank r            b_r (1 - s) T / np      with shares b of mean 1
//
// A single rank does all of T and exchanges nothing. Iterations follow one another without a barrier, as in a
// program: a message that arrives while its receiver is still computing costs the receiver nothing. So with
// uneven work on more than two ranks, or if the busiest rank receives first, the exchange adds less than in
// equation 6.
class Granularity final : public Workload {
 public:
  Granularity(const Place& place, const Values& values)
      : Granularity(place, values,
                    shares(values.word("shares"), static_cast<std::uint64_t>(values.integer("seed")),
                           place.comm.size)) {}

  void prepare(int count) override {
    computing_.recheck();
    ring_.prepare(count);
  }
  void run() override {
    computing_.run();
    ring_.exchange();
  }
  void fill(const Payload& payload) override { ring_.fill(payload); }
  Check verify(const Payload& payload) override { return ring_.verify(payload); }
  bool keeps_payload() const override { return ring_.keeps_payload(); }
  int back_to_back() const override { return iterations_; }
  std::uint64_t bytes_moved() const override { return ring_.bytes_moved(); }
  std::optional<double> computing_s() const override { return computing_.preset_s(); }
  void report(MetricValues& values) override { report_computing(values, computing_, imbalance_); }

 private:
  Granularity(const Place& place, const Values& values, const std::vector<double>& shares)
      : iterations_(static_cast<int>(values.integer("iterations"))),
        imbalance_(*std::max_element(shares.begin(), shares.end())),
        computing_(own_work(values, place.comm, shares[static_cast<std::size_t>(place.comm.rank)])),
        ring_(place, values) {}

  static double own_work(const Values& values, const Comm& comm, double share) {
    const double work = values.real("work");
    const double serial = values.real("serial") * work;
    return share * (work - serial) / comm.size + (comm.root() ? serial : 0.0);
  }

  const int iterations_;
  const double imbalance_;
  Computing computing_;
  RingExchange ring_;
};

constexpr Parameter granularity_parameters[] = {
    parameters::work("processor time that the whole work takes on a single rank"),
    {"serial", Kind::real, "", "0", 0, 1, "", "fraction of the work that only rank 0 does"},
    {"shares", Kind::text, "", "equal", 0, 0, "equal|N:N:...|uniform:S|normal:S|exponential:S",
     "distribution of the parallel work: equal, in proportions (one per rank), or random with relative "
     "spread S"},
    {"seed", Kind::integer, "", "1", 0, 1e15, "", "seed of the random shares"},
    {"iterations", Kind::integer, "", "20", 1, 1e6, "",
     "back-to-back iterations between two readings of the clock"},
    parameters::bytes("bytes in each message"),
    parameters::buffers,
    parameters::exchange,
    parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo granularity{
    .name = "granularity",
    .role = "kernel",
    .operation = "ring",
    .size = "bytes",
    .help =
        "the ranks share the work, then each sends to its right neighbor and receives from "
        "its left neighbor",
    .time = "one iteration, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = granularity_parameters,
    .metrics = computing_metrics,
    .make = make<Granularity>,
};

}  // namespace hockney::patterns
