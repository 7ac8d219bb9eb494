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
      : Observer(values.real("observe"), values.real("quantum")), quantum_s_(values.real("quantum")) {
    check_count(values.real("observe"), quantum_s_, "quanta");
    times_.assign(count_of_repetition(values), 0.0);  // touches the memory
    clock_step_s_ = measure_clock().resolution_s;
  }

  void run() override {
    const std::size_t quanta = std::min(count(quantum_s_), times_.size());
    double last = now();
    for (std::size_t i = 0; i < quanta; ++i) {
      quantum();
      const double time = now();
      times_[i] = time - last;
      last = time;
    }
    quanta_ = quanta;
    finish();
  }

 private:
  static std::size_t count_of_repetition(const Values& values) {
    return static_cast<std::size_t>(std::max(1.0, values.real("observe") / values.real("quantum")));
  }

  Observation observe() const override {
    const auto end = times_.begin() + static_cast<std::ptrdiff_t>(quanta_);
    return from_quanta({times_.begin(), end}, clock_step_s_);
  }

  const double quantum_s_;
  double clock_step_s_ = 0;
  std::vector<double> times_;
  std::size_t quanta_ = 0;
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
