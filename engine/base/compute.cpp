// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/compute.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/clock.hpp"
#include "base/expect.hpp"
#include "base/statistics.hpp"
#include "base/waits.hpp"

namespace hockney {

#ifdef HOCKNEY_SMPI

Computing::Computing(double preset_s, bool) : preset_s_(preset_s) {}

Computing Computing::of_steps(double preset_s) {
  Computing fixed(preset_s);
  fixed.steps_ = preset_s > 0 ? 1 : 0;
  return fixed;
}

void Computing::run(double factor) {
  pass(factor * preset_s_);
}

void Computing::recheck() {}

double Computing::error() {
  return 0;
}

const char* Computing::clock() const {
  return "simulated";
}

#else

namespace {

// Work is done by the loop alone if reading the clock three times would take more than a seventh of it.
constexpr double short_readings = 20;
// The pace is only known to a few percent, because processors change their frequency. So only this share of
// the remaining time is looped before the clock is read again, until the remainder is too short for the error
// to matter.
constexpr double safe_share = 0.96;
constexpr double short_rest_s = 5e-6;
// In a shorter loop the measured pace would be dominated by clock jitter.
constexpr double worth_learning_s = 4e-6;
constexpr double learning = 0.2;
// Samples this far off were interrupted and are discarded.
constexpr double believable = 0.2;
constexpr double recheck_every_s = 5e-3;
constexpr double recheck_s = 5e-6;

constexpr double warm_up_s = 1e-3;
constexpr double trial_steps = 4000;
constexpr int trials = 41;
constexpr int rechecks = 5;
// The pace of a fixed amount of work is only checked for its error, on as many steps as this takes.
constexpr double check_pace_s = 20e-6;

void follow(double& pace, double measured) {
  if (std::abs(measured / pace - 1) < believable) pace += learning * (measured - pace);
}

}  // namespace

Computing::Computing(double preset_s, bool own_clock) : preset_s_(preset_s) {
  HOCKNEY_EXPECT(preset_s >= 0 && std::isfinite(preset_s));
  asleep_ = waits_asleep();
  if (asleep_) return;
  timespec time{};
  own_clock_ = own_clock && clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0;
  if (preset_s_ > 0) find_pace();
}

Computing Computing::of_steps(double preset_s) {
  Computing fixed(preset_s);
  fixed.fixed_ = true;
  fixed.steps_ = preset_s <= 0 ? 0 : fixed.asleep_ ? 1 : std::max(1.0, std::round(preset_s / fixed.step_s_));
  return fixed;
}

const char* Computing::clock() const {
  if (asleep_) return "asleep";
  return own_clock_ ? "thread" : "wall";
}

double Computing::read() const {
  if (!own_clock_) return now();
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Each step needs the previous result, so that the processor can neither skip nor overlap steps; the empty
// asm statement prevents the compiler from doing so. Never inlined, so that there is a single loop with a
// single pace.
[[gnu::noinline]] void Computing::loop(std::uint64_t steps) {
  std::uint64_t x = state_;
  for (; steps > 0; --steps) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(x));
  }
  state_ = x;
}

// A thread clock driven by system ticks cannot resolve short loops: use the wall clock instead, and longer
// loops if that is as coarse.
void Computing::find_pace() {
  for (const double until = now() + warm_up_s; now() < until;) loop(1000);
  for (double steps = trial_steps; !paced(steps);) {
    if (!own_clock_) steps *= 10;
    own_clock_ = false;
  }
  if (preset_s_ < short_readings * reading_s_) steps_ = std::max(1.0, preset_s_ / step_s_);
}

// Times a loop of two lengths between two readings: the difference is the loop's time, the rest is the
// readings', with caches as cold as they are after a loop. False if the clock shows no difference.
bool Computing::paced(double steps) {
  std::vector<double> once;
  std::vector<double> twice;
  for (int i = 0; i < trials; ++i) {
    once.push_back(loop_time(steps));
    twice.push_back(loop_time(2 * steps));
  }
  const double shorter = median(once);
  step_s_ = (median(twice) - shorter) / steps;
  reading_s_ = std::max(0.0, shorter - steps * step_s_);
  return step_s_ > 0;
}

double Computing::loop_time(double steps) {
  const double began = read();
  loop(static_cast<std::uint64_t>(steps));
  return read() - began;
}

void Computing::run(double factor) {
  if (asleep_)
    run_asleep(factor * preset_s_);
  else if (steps_ > 0)
    loop(static_cast<std::uint64_t>(std::lround(factor * steps_)));
  else if (preset_s_ > 0)
    run_by_clock(factor * preset_s_);
}

// Between the instants at which two successive readings are taken, one reading's time passes. What precedes
// the first and follows the last adds up to another.
void Computing::run_by_clock(double seconds) {
  const double began = read();
  const double ends = began + seconds - reading_s_;
  double last = began;
  for (bool done = false; !done;) {
    const double left = ends - last - reading_s_;
    done = last != began && left < short_rest_s;
    const double steps = std::max(0.0, (done ? left : safe_share * (left - reading_s_)) / step_s_);
    loop(static_cast<std::uint64_t>(steps));
    const double time = read();
    if (steps * step_s_ > worth_learning_s) follow(step_s_, (time - last - reading_s_) / steps);
    last = time;
  }
  consumed_s_ += last - began + reading_s_;
  asked_s_ += seconds;
}

void Computing::run_asleep(double seconds) {
  if (seconds <= 0) return;
  const double began = now();
  wait_until(began + seconds);
  consumed_s_ += now() - began;
  asked_s_ += seconds;
}

void Computing::recheck() {
  if (asked_s_ > 0) ratios_.push_back(consumed_s_ / asked_s_);
  consumed_s_ = asked_s_ = 0;
  if (asleep_ || steps_ == 0 || (!ratios_.empty() && now() - checked_ <= recheck_every_s)) return;
  fixed_ ? recheck_pace() : recheck_loop();
  checked_ = now();
}

// The median of several checks, because an interrupt may fall into one of them.
void Computing::recheck_loop() {
  const auto runs = static_cast<long>(std::ceil(recheck_s / preset_s_));
  std::vector<double> checks;
  for (int i = 0; i < rechecks; ++i) {
    const double began = read();
    for (long done = 0; done < runs; ++done) run();
    checks.push_back((read() - began - reading_s_) / static_cast<double>(runs) / preset_s_);
  }
  double ratio = 1;
  follow(ratio, median(checks));
  steps_ = std::max(1.0, steps_ / ratio);
  ratios_.push_back(median(checks));
}

void Computing::recheck_pace() {
  const double steps = std::ceil(check_pace_s / step_s_);
  std::vector<double> checks;
  for (int i = 0; i < rechecks; ++i) checks.push_back((loop_time(steps) - reading_s_) / (steps * step_s_));
  ratios_.push_back(median(checks));
}

double Computing::error() {
  recheck();
  return ratios_.empty() ? 0.0 : std::abs(median(ratios_) - 1);
}

#endif

}  // namespace hockney
