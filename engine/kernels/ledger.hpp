// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "hockney/bsp.hpp"
#include "measure/metrics.hpp"

namespace hockney::kernels {

// The supersteps of a kernel on this rank: the amounts of computation and communication in each, and their
// times.
class Ledger {
 public:
  // Begins a run.
  void begin() {
    step_ = 0;
    ++runs_;
    resumed_ = now();
  }
  // Adds computation of this many operations to the current superstep. On a simulated machine it takes
  // operations / rate seconds, or no time if the rate is 0.
  void compute(double operations, [[maybe_unused]] double rate) {
#ifdef HOCKNEY_SMPI
    if (rate > 0) pass(operations / rate);
#endif
    current().operations += operations;
  }
  // Adds copying of this many bytes, which counts as computing time, but not as operations.
  void copy([[maybe_unused]] std::size_t bytes, [[maybe_unused]] double rate) {
#ifdef HOCKNEY_SMPI
    if (rate > 0) pass(static_cast<double>(bytes) / rate);
#endif
  }
  // Ends computation and begins communication, unless it has already begun.
  void end_computing() {
    if (communicating_) return;
    communicating_ = true;
    spend(current().computation, computation_, now());
  }
  // Ends communication and the superstep.
  void end_superstep(std::uint64_t bytes_out, std::uint64_t bytes_in, std::uint64_t messages,
                     std::uint64_t packets) {
    Sums& step = current();
    spend(step.communication, communication_, now());
    step.bytes += static_cast<double>(std::max(bytes_out, bytes_in));
    step.messages += static_cast<double>(messages);
    step.packets += static_cast<double>(packets);
    ++step_;
    communicating_ = false;
  }
  // Adds a superstep of BSPlib, as recorded by the library.
  void add_superstep(const bsp::Superstep& superstep) {
    end_superstep(superstep.bytes_out, superstep.bytes_in, superstep.operations, superstep.packets_out);
  }
  // Ends a run with a last superstep that only computes.
  void end() {
    end_computing();
    ++step_;
    communicating_ = false;
  }

  // Sets the seconds of the runs since the last call.
  void sample(MetricValues& values) {
    values.set("computation", computation_);
    values.set("communication", communication_);
    computation_ = communication_ = 0;
  }
  void report(MetricValues& values) const {
    const auto each = [this](double Sums::* part) {
      std::vector<double> means;
      for (const Sums& step : steps_) means.push_back(step.*part / std::max(1.0, runs_));
      return means;
    };
    values.set("supersteps", static_cast<double>(steps_.size()));
    values.set_each("superstep_operations", each(&Sums::operations));
    values.set_each("superstep_computation", each(&Sums::computation));
    values.set_each("superstep_communication", each(&Sums::communication));
    values.set_each("superstep_h", each(&Sums::bytes));
    values.set_each("superstep_messages", each(&Sums::messages));
    values.set_each("superstep_packets", each(&Sums::packets));
  }

 private:
  // Sums over all runs.
  struct Sums {
    double operations = 0;
    double computation = 0;
    double communication = 0;
    double bytes = 0;
    double messages = 0;
    double packets = 0;
  };

  Sums& current() {
    if (step_ == steps_.size()) steps_.emplace_back();
    return steps_[step_];
  }
  void spend(double& step_s, double& total_s, double moment) {
    step_s += moment - resumed_;
    total_s += moment - resumed_;
    resumed_ = moment;
  }

  std::vector<Sums> steps_;
  std::size_t step_ = 0;
  double runs_ = 0;
  bool communicating_ = false;
  double resumed_ = 0;
  double computation_ = 0;
  double communication_ = 0;
};

inline constexpr Metric ledger_metrics[] = {
    {.name = "supersteps",
     .help = "supersteps, steps of one block each (bpram), or rounds of messages (mpi)"},
    {.name = "computation",
     .unit = "s",
     .per = Per::repetition,
     .phase = true,
     .help = "outside of communication"},
    {.name = "communication",
     .unit = "s",
     .per = Per::repetition,
     .phase = true,
     .help = "including waiting for others"},
    {.name = "superstep_operations", .per = Per::superstep, .help = "w, counted in operations"},
    {.name = "superstep_computation", .unit = "s", .per = Per::superstep, .help = "w, in seconds"},
    {.name = "superstep_communication",
     .unit = "s",
     .per = Per::superstep,
     .help = "including waiting for others"},
    {.name = "superstep_h",
     .unit = "B",
     .per = Per::superstep,
     .help = "h: what a rank sends to others or receives, whichever is more"},
    {.name = "superstep_messages",
     .per = Per::superstep,
     .help = "puts, gets and messages that a rank asks for"},
    {.name = "superstep_packets",
     .per = Per::superstep,
     .help = "startups: messages of MPI that a rank sends after combining; 0 if unknown"},
};

}  // namespace hockney::kernels
