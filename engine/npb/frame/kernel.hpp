// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure/parameters.hpp"
#include "measure/workload.hpp"
#include "npb/frame/account.hpp"
#include "sync/algorithm.hpp"

namespace hockney::npb {

// A number that the benchmark verifies: its deviation from `expected`, divided by `scale`, must not exceed
// the tolerance.
struct Answer {
  std::string name;
  double value;
  double expected;
  double tolerance;
  double scale = 0;  // 0: `expected`, unless that is also 0
};

// A benchmark: run() is its timed part, from the initial state to the final one; prepare() restores the
// initial state outside the timed region. All ranks verify every run together before the next one begins.
class Kernel : public Workload {
 public:
  // `phases`: names of the parts of an iteration.
  Kernel(const Place& place, const Values& values, std::span<const char* const> phases);

  void prepare(int count) final;
  void run() final;
  Check verify(const Payload&) final;
  std::vector<Check> take_checks() final;
  bool prepared_each_time() const final { return true; }
  void sample(MetricValues& values) final;
  void report(MetricValues& values) final;

 protected:
  // ---- Defined by each kernel ----
  // Sets the initial state; not timed. Collective.
  virtual void reset() = 0;
  // The timed part.
  virtual void execute() = 0;
  // The numbers compared by the official verification, the same on all ranks; not timed. Collective. Empty
  // only if the class has no published answer.
  virtual std::vector<Answer> answers() = 0;
  // Operations of a run over all ranks, by the official count.
  virtual double official_operations() const = 0;
  // Inverts a high bit of the computed state on this rank, for fault=bit.
  virtual void flip() = 0;
  // How the problem is divided among the ranks, such as "2 x 3 x 1 blocks".
  virtual std::string decomposition() const = 0;

  // ---- Used by kernels ----
  // Computes `body`, which has a share of this rank's official operations. Without
  // arithmetic nothing is computed; on a simulated machine the operations take their time.
  template <class Body>
  void compute(double operations, const Body& body) {
    if (arithmetic_) body();
    account_.compute(operations, rate_);
  }
  // Calls the function of array.hpp for the ranks of this host, unless nothing is computed.
  void require_memory(std::size_t bytes) const;
  // Mark the end of iteration `number` (from 0) of `iterations`, or of a step of one; a barrier may be placed
  // here.
  void end_iteration(int number, int iterations);
  void end_step();

  const Comm& comm_;
  Account account_;
  const bool arithmetic_;

 private:
  void settle_run();

  const int ranks_on_host_;  // ranks on this host
  const std::span<const char* const> phases_;
  const double rate_;
  enum class BarrierAt { none, iteration, step } const barrier_at_;
  const bool fault_;
  bool is_fresh_ = false;         // reset, and not run since
  bool has_pending_run_ = false;  // there is a run that has not been settled
  int settled_runs_ = 0;          // number of runs in the account
  double deviation_ = 0;          // maximum over the runs since the last sample()
  std::vector<Check> checks_;     // for the runs since the last take_checks()
  std::string answers_;           // of the last run
  int runs_ = 0;                  // sampled runs, with their seconds by phase:
  std::vector<double> computation_, communication_, waiting_;
};

// The class that the case names.
template <class Size>
const Size& class_of(std::span<const Size> classes, const Values& values) {
  for (const Size& each : classes)
    if (values.word("class") == each.name) return each;
  throw std::logic_error("no such class");
}

// Flips the bit of a double that no rounding error explains.
void flip_bit(double& value);

// Parameters of a kernel with these classes, separated by '|', as in a parameter's choices.
constexpr std::array<Parameter, 7> kernel_parameters(const char* classes, const char* sizes) {
  return {{
      {"class", Kind::choice, "", "S", 0, 0, classes, sizes},
      {"barrier", Kind::choice, "", "mpi", 0, 0, barrier_choices, "which barrier barrier_at places"},
      {"barrier_at", Kind::choice, "", "none", 0, 0, "none|iteration|step",
       "places a barrier after every iteration, or after every step of one; the benchmark itself has none in "
       "its timed part"},
      {"rate", Kind::real, "", "0", 0, 1e18, "",
       "operations per second of a simulated machine, by the official count; 0: as in its description, else "
       "computing takes no time"},
      {"arithmetic", Kind::choice, "", "real", 0, 0, "real|none",
       "none: computing only takes its time, on a simulated machine, and nothing is verified"},
      {"fault", Kind::choice, "", "none", 0, 0, "none|bit",
       "bit: one bit of rank 0's state is inverted half way, which verification must find"},
      parameters::sync_each,
  }};
}

// Metrics of all kernels. Metrics by phase have one value for each phase; the label `phases` contains their
// names, the label `answers` the numbers verified after the last run.
inline constexpr Metric metrics[] = {
    {.name = "computation",
     .unit = "s",
     .over_ranks = OverRanks::mean,
     .per = Per::repetition,
     .phase = true,
     .help = "outside of communication"},
    {.name = "messages",
     .unit = "s",
     .over_ranks = OverRanks::mean,
     .per = Per::repetition,
     .phase = true,
     .help = "between two ranks, after both have begun"},
    {.name = "collectives",
     .unit = "s",
     .over_ranks = OverRanks::mean,
     .per = Per::repetition,
     .phase = true,
     .help = "after the last rank has begun"},
    {.name = "barriers",
     .unit = "s",
     .over_ranks = OverRanks::mean,
     .per = Per::repetition,
     .phase = true,
     .help = "after the last rank has arrived"},
    {.name = "waiting",
     .unit = "s",
     .over_ranks = OverRanks::mean,
     .per = Per::repetition,
     .phase = true,
     .help = "for ranks that begin a communication later"},
    {.name = "deviation",
     .over_ranks = OverRanks::max,
     .per = Per::repetition,
     .help = "the largest deviation from the published answers, relative to them"},
    {.name = "operations", .help = "of a run, by the official count"},
    {.name = "sent_messages",
     .over_ranks = OverRanks::sum,
     .help = "of a run, between two ranks, over all ranks"},
    {.name = "sent_bytes", .unit = "B", .over_ranks = OverRanks::sum, .help = "of these messages"},
    {.name = "collective_calls", .help = "of a run, on each rank"},
    {.name = "collective_bytes",
     .unit = "B",
     .over_ranks = OverRanks::sum,
     .help = "what the ranks contribute to these calls in a run"},
    {.name = "clock_readings", .help = "in a run, for the account of its time"},
    {.name = "phase_computation",
     .unit = "s",
     .over_ranks = OverRanks::mean,
     .per = Per::superstep,
     .help = "of a run, in each phase"},
    {.name = "phase_communication",
     .unit = "s",
     .over_ranks = OverRanks::mean,
     .per = Per::superstep,
     .help = "messages, collectives and barriers of a run, in each phase"},
    {.name = "phase_waiting",
     .unit = "s",
     .over_ranks = OverRanks::mean,
     .per = Per::superstep,
     .help = "of a run, in each phase"},
};

// Catalog entry shared by all kernels; `make` creates the kernel.
constexpr WorkloadInfo kernel_info(const char* name, const char* help, std::span<const Parameter> parameters,
                                   std::unique_ptr<Workload> (*make)(const Place&, const Values&)) {
  return {
      .name = name,
      .role = "npb",
      .operation = name,
      .help = help,
      .time = "one run of the benchmark's timed part, the maximum over the ranks",
      .parameters = parameters,
      .metrics = metrics,
      .make = make,
  };
}

}  // namespace hockney::npb
