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

Computing Computing::with_fixed_steps(double preset_s) {
  Computing computing(preset_s);
  computing.steps_ = preset_s > 0 ? 1 : 0;
  return computing;
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

// The loop runs without the clock if three readings would take more than a seventh of the preset.
constexpr double short_readings = 20;
// The pace is only known to within a few percent, because processors change their frequency. Only this share
// of the remaining time is looped before the clock is read again, until the remainder is too short for the
// error to matter.
constexpr double safe_share = 0.96;
constexpr double short_remainder_s = 5e-6;
// For a shorter loop, clock jitter would dominate the measured pace.
constexpr double min_learning_s = 4e-6;
constexpr double learning_rate = 0.2;
// Samples that deviate more were interrupted, and are discarded.
constexpr double max_deviation = 0.2;
constexpr double recheck_every_s = 5e-3;
constexpr double recheck_s = 5e-6;

constexpr double warm_up_s = 1e-3;
constexpr double trial_steps = 4000;
constexpr int trials = 41;
constexpr int rechecks = 5;
// The pace of a computing amount is only checked for its error, on as many steps as take this time.
constexpr double check_pace_s = 20e-6;

void follow(double& pace, double measured) {
  if (std::abs(measured / pace - 1) < max_deviation) pace += learning_rate * (measured - pace);
}

}  // namespace

Computing::Computing(double preset_s, bool use_thread_clock) : preset_s_(preset_s) {
  HOCKNEY_EXPECT(preset_s >= 0 && std::isfinite(preset_s));
  asleep_ = waits_asleep();
  if (asleep_) return;
  timespec time{};
  use_thread_clock_ = use_thread_clock && clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0;
  if (preset_s_ > 0) find_pace();
}

Computing Computing::with_fixed_steps(double preset_s) {
  Computing computing(preset_s);
  computing.fixed_ = true;
  computing.steps_ = preset_s <= 0       ? 0
                     : computing.asleep_ ? 1
                                         : std::max(1.0, std::round(preset_s / computing.step_s_));
  return computing;
}

const char* Computing::clock() const {
  if (asleep_) return "asleep";
  return use_thread_clock_ ? "thread" : "wall";
}

double Computing::read() const {
  if (!use_thread_clock_) return now();
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Each step needs the previous result, so the processor can neither skip nor overlap steps; the empty asm
// statement prevents the compiler from doing so. The function is never inlined, so that there is a single
// loop with a single pace.
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
  for (double steps = trial_steps; !measure_pace(steps);) {
    if (!use_thread_clock_) steps *= 10;
    use_thread_clock_ = false;
  }
  if (preset_s_ < short_readings * reading_s_) steps_ = std::max(1.0, preset_s_ / step_s_);
}

// Times loops of two lengths, each between two readings of the clock. The difference is the loop's time; the
// remainder is the readings' time, with caches as cold as they are after a loop. Returns false if the clock
// shows no difference.
bool Computing::measure_pace(double steps) {
  std::vector<double> single_times;
  std::vector<double> double_times;
  for (int i = 0; i < trials; ++i) {
    single_times.push_back(loop_time(steps));
    double_times.push_back(loop_time(2 * steps));
  }
  const double single_time = median(single_times);
  step_s_ = (median(double_times) - single_time) / steps;
  reading_s_ = std::max(0.0, single_time - steps * step_s_);
  return step_s_ > 0;
}

double Computing::loop_time(double steps) {
  const double start_s = read();
  loop(static_cast<std::uint64_t>(steps));
  return read() - start_s;
}

void Computing::run(double factor) {
  if (asleep_)
    run_asleep(factor * preset_s_);
  else if (steps_ > 0)
    loop(static_cast<std::uint64_t>(std::lround(factor * steps_)));
  else if (preset_s_ > 0)
    run_by_clock(factor * preset_s_);
}

// The interval between two successive readings includes the cost of one reading. The time before the first
// and after the last instant adds up to another one.
void Computing::run_by_clock(double seconds) {
  const double start_s = read();
  const double deadline = start_s + seconds - reading_s_;
  double last = start_s;
  for (bool done = false; !done;) {
    const double remaining = deadline - last - reading_s_;
    done = last != start_s && remaining < short_remainder_s;
    const double steps = std::max(0.0, (done ? remaining : safe_share * (remaining - reading_s_)) / step_s_);
    loop(static_cast<std::uint64_t>(steps));
    const double time = read();
    if (steps * step_s_ > min_learning_s) follow(step_s_, (time - last - reading_s_) / steps);
    last = time;
  }
  consumed_s_ += last - start_s + reading_s_;
  requested_s_ += seconds;
}

void Computing::run_asleep(double seconds) {
  if (seconds <= 0) return;
  const double start_s = now();
  wait_until(start_s + seconds);
  consumed_s_ += now() - start_s;
  requested_s_ += seconds;
}

void Computing::recheck() {
  if (requested_s_ > 0) ratios_.push_back(consumed_s_ / requested_s_);
  consumed_s_ = requested_s_ = 0;
  if (asleep_ || steps_ == 0 || (!ratios_.empty() && now() - checked_ <= recheck_every_s)) return;
  fixed_ ? recheck_pace() : recheck_loop();
  checked_ = now();
}

// Takes the median of several checks, because an interrupt may occur during one of them.
void Computing::recheck_loop() {
  const auto runs = static_cast<long>(std::ceil(recheck_s / preset_s_));
  std::vector<double> checks;
  for (int i = 0; i < rechecks; ++i) {
    const double start_s = read();
    for (long done = 0; done < runs; ++done) run();
    checks.push_back((read() - start_s - reading_s_) / static_cast<double>(runs) / preset_s_);
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
