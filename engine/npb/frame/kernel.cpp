// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/frame/kernel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/invalid_case.hpp"
#include "measure/choice.hpp"
#include "measure/watchdog.hpp"
#include "npb/frame/array.hpp"

namespace hockney::npb {
namespace {

std::unique_ptr<Barrier> barrier_of(const Place& place, const Values& values) {
  if (values.word("barrier_at") == "none") return nullptr;
  return find_algorithm(all_barriers(), values.word("barrier")).make(place.comm.handle);
}

double rate_of(const Values& values) {
  const double rate = values.real("rate");
#ifndef HOCKNEY_SMPI
  if (rate > 0) throw InvalidCase("rate is the speed of a simulated machine; a real one computes at its own");
  if (values.word("arithmetic") == "none")
    throw InvalidCase("arithmetic=none is for simulated machines: a real one would do nothing");
#endif
  return rate;
}

std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.14g", value);
  return text;
}

}  // namespace

Kernel::Kernel(const Place& place, const Values& values, std::span<const char* const> phases)
    : comm_(place.comm),
      account_(place.comm, phases.size(), barrier_of(place, values)),
      arithmetic_(values.word("arithmetic") == "real"),
      ranks_on_host_(place.arena.ranks_on_host()),
      phases_(phases),
      rate_(rate_of(values)),
      barrier_at_(values.word("barrier_at") == "none"        ? BarrierAt::none
                  : values.word("barrier_at") == "iteration" ? BarrierAt::iteration
                                                             : BarrierAt::step),
      fault_(values.word("fault") == "bit" && arithmetic_),
      computation_(phases.size()),
      communication_(phases.size()),
      waiting_(phases.size()) {}

void Kernel::require_memory(std::size_t bytes) const {
  if (arithmetic_) npb::require_memory(bytes, ranks_on_host_);
}

void Kernel::prepare(int) {
  settle_run();
  reset();
  is_fresh_ = true;
}

void Kernel::run() {
  // If there are several untimed runs, only the first one is prepared.
  if (!is_fresh_) prepare(1);
  is_fresh_ = false;
  watchdog::progress(0, 0);
  account_.begin();
  execute();
  account_.end();
  has_pending_run_ = true;
}

void Kernel::end_iteration(int number, int iterations) {
  watchdog::progress(number, iterations);
  if (fault_ && comm_.root() && number == iterations / 2) flip();
  if (barrier_at_ != BarrierAt::none) account_.synchronise();
}

void Kernel::end_step() {
  if (barrier_at_ == BarrierAt::step) account_.synchronise();
}

// Compares the answers of the last run, which all ranks have computed.
void Kernel::settle_run() {
  if (!has_pending_run_) return;
  has_pending_run_ = false;
  account_.settle_run();
  ++settled_runs_;
  if (!arithmetic_) return;
  Check check;
  answers_.clear();
  for (const Answer& answer : answers()) {
    answers_.append(answers_.empty() ? "" : ",").append(digits(answer.value));
    const double scale = answer.scale > 0       ? answer.scale
                         : answer.expected == 0 ? 1
                                                : std::abs(answer.expected);
    const double deviation = std::abs(answer.value - answer.expected) / scale;
    check.bytes += sizeof answer.value;
    deviation_ = std::isfinite(deviation) ? std::max(deviation_, deviation) : HUGE_VAL;
    if (deviation <= answer.tolerance) continue;
    ++check.errors;
    if (check.first.empty())
      check.first = answer.name + " is " + digits(answer.value) + " instead of " + digits(answer.expected);
  }
  checks_.push_back(check);
}

// The last run is not a repetition, so its time does not count.
Check Kernel::verify(const Payload&) {
  settle_run();
  account_.clear();
  settled_runs_ = 0;
  Check all;
  for (const Check& check : checks_) all += check;
  checks_.clear();
  return all;
}

std::vector<Check> Kernel::take_checks() {
  settle_run();
  return std::exchange(checks_, {});
}

void Kernel::sample(MetricValues& values) {
  settle_run();
  values.set("computation", account_.spent(TimeKind::computation));
  values.set("messages", account_.spent(TimeKind::messages));
  values.set("collectives", account_.spent(TimeKind::collectives));
  values.set("barriers", account_.spent(TimeKind::barriers));
  values.set("waiting", account_.spent(TimeKind::waiting));
  values.set("deviation", std::min(deviation_, 1e300));
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    computation_[i] += account_.spent(i, TimeKind::computation);
    waiting_[i] += account_.spent(i, TimeKind::waiting);
    for (const TimeKind kind : {TimeKind::messages, TimeKind::collectives, TimeKind::barriers})
      communication_[i] += account_.spent(i, kind);
  }
  account_.clear();
  runs_ += std::exchange(settled_runs_, 0);
  deviation_ = 0;
}

void Kernel::report(MetricValues& values) {
  const auto each = [this](std::vector<double> seconds) {
    for (double& value : seconds) value /= std::max(1, runs_);
    return seconds;
  };
  values.set("operations", official_operations());
  const Traffic& traffic = account_.traffic();
  values.set("sent_messages", traffic.messages);
  values.set("sent_bytes", traffic.bytes);
  values.set("collective_calls", traffic.collectives);
  values.set("collective_bytes", traffic.collective_bytes);
  values.set("clock_readings", static_cast<double>(account_.readings()));
  values.set_each("phase_computation", each(computation_));
  values.set_each("phase_communication", each(communication_));
  values.set_each("phase_waiting", each(waiting_));
  std::string names;
  for (const char* name : phases_) names.append(names.empty() ? "" : ",").append(name);
  values.label("phases", names);
  values.label("decomposition", decomposition());
  values.label("answers", answers_);
}

void flip_bit(double& value) {
  // The exponent's lowest bit: a factor of 2 or 1/2.
  value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << 52));
}

}  // namespace hockney::npb
