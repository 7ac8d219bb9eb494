// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "annealing/ensemble.hpp"
#include "base/clock.hpp"
#include "base/compute.hpp"
#include "comm/comm.hpp"
#include "measure/shares.hpp"
#include "measure/values.hpp"

#ifdef HOCKNEY_SMPI
#include <simgrid/host.h>
#endif

namespace hockney::annealing {

// Operations of a step, for machines whose description does not give a rate of steps: about a hundred for the
// random numbers and the acceptance (ten rounds of Philox with eight operations each), plus those for the
// change of the energy.
inline double operations_per_step(const Values& values, const Ensemble& ensemble) {
  constexpr double common = 100;
  if (values.word("problem") == "spin_glass") return common + 4 * values.real("dimensions");
  if (values.word("problem") == "qap") return common + 5 * ensemble.size();
  return common + 50;  // four distances
}

// Consumes processor time, in portions that are long enough for the clock of Computing; the remainder is
// added to the next steps.
class Slowing {
 public:
  explicit Slowing(double step_s) : step_s_(step_s), portion_(portion_s) {}

  void operator()(int steps) {
    owed_s_ += steps * step_s_;
    while (owed_s_ >= portion_s) {
      portion_.run();
      owed_s_ -= portion_s;
    }
  }

 private:
  static constexpr double portion_s = 20e-6;
  const double step_s_;
  Computing portion_;
  double owed_s_ = 0;
};

// Time that steps take in addition to their arithmetic. On a simulated machine, where arithmetic takes no
// time, it is the whole time; on a real machine it makes a rank slower than the fastest one, as its share
// requires.
class StepTime {
 public:
  StepTime(const Values& values, const Comm& comm, const Options& options)
      : comm_(comm),
        options_(options),
        given_s_(values.real("step_s")),
        shares_(
            shares(values.word("shares"), static_cast<std::uint64_t>(values.integer("seed")), comm.size)) {
#ifndef HOCKNEY_SMPI
    if (given_s_ > 0)
      throw InvalidCase(
          "step_s is the time of a step on a simulated machine; a real one computes at its own speed");
    if (!options.propose)
      throw InvalidCase("arithmetic=none is for simulated machines: a real one would do nothing");
#endif
  }

  // Returns a function for Options::after_steps. `operations` of a step are used if its time is not given. On
  // a real machine, the first call is collective, and anneals for some milliseconds.
  std::function<void(int)> additional([[maybe_unused]] Ensemble& ensemble,
                                      [[maybe_unused]] double operations) {
    const double own_share = shares_[static_cast<std::size_t>(comm_.rank)];
#ifdef HOCKNEY_SMPI
    const double step_s = given_s_ > 0 ? given_s_ : operations / sg_host_get_speed(sg_host_self());
    return [own_step_s = step_s * own_share](int steps) { pass(steps * own_step_s); };
#else
    const auto [fastest, slowest] = std::minmax_element(shares_.begin(), shares_.end());
    if (*fastest == *slowest) return {};
    if (measured_s_ == 0) measured_s_ = measure(ensemble);
    if (!slowing_) slowing_ = std::make_unique<Slowing>((own_share / *fastest - 1) * measured_s_);
    return [this](int steps) { (*slowing_)(steps); };
#endif
  }

 private:
  // Seconds of a step on the least disturbed rank, the same on all ranks. Each rank measures walkers like its
  // own, with fewer steps.
  double measure(Ensemble& ensemble) const {
    constexpr int steps = 50000;
    Options trial_options = options_;
    trial_options.setup = "original";
    trial_options.lag = trial_options.groups = 0;
    trial_options.balance = false;
    trial_options.walkers = std::max(1, options_.walkers / comm_.size);
    trial_options.steps = std::max(1, steps / (trial_options.walkers * trial_options.rounds));
    ensemble.prepare(trial_options, MPI_COMM_SELF);
    ensemble.run();
    const Report report = ensemble.finish(false).first;
    double step_s = report.times.computation / static_cast<double>(report.steps);
    comm_.reduce_min(&step_s, 1);
    comm_.broadcast(step_s);
    return step_s;
  }

  const Comm& comm_;
  const Options& options_;
  const double given_s_;
  const std::vector<double> shares_;
  double measured_s_ = 0;
  std::unique_ptr<Slowing> slowing_;
};

}  // namespace hockney::annealing
