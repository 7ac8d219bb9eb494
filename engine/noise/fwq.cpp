// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Fixed work quanta: the same work again and again, timed one by one. Whatever makes one longer took the
// core's time (Sottile and Minnich 2004; the FWQ benchmark of Lawrence Livermore National Laboratory).
#include "base/clock.hpp"
#include "noise/observer.hpp"

namespace hockney::noise {
namespace {

class FixedWork final : public Observer {
 public:
  FixedWork(const Place&, const Values& values)
      : Observer(values.real("observe"), values.real("quantum"), values.real("quantum"), "quanta"),
        clock_step_s_(measure_clock().resolution_s) {}

 private:
  void measure(std::span<double> times) override {
    double last = now();
    for (double& each : times) {
      quantum();
      const double time = now();
      each = time - last;
      last = time;
    }
  }
  Observation observe(std::span<const double> times) const override {
    return from_quanta(times, clock_step_s_);
  }

  const double clock_step_s_;
};

constexpr Parameter fwq_parameters[] = {
    {"quantum", Kind::real, "s", "1e-05", 1e-7, 1, "", "undisturbed time of one quantum of work"},
    observe,
    parameters::sync_each,
};

}  // namespace

extern constinit const WorkloadInfo fwq{
    .name = "fwq",
    .role = "noise",
    .operation = "fwq",
    .size = "quantum",
    .help = "fixed work quanta: each rank times equal portions of work, without messages",
    .time = "all quanta, the maximum over the ranks",
    .timing = Timing::longest,
    .parameters = fwq_parameters,
    .metrics = metrics,
    .make = make<FixedWork>,
};

}  // namespace hockney::noise
