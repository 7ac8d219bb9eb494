// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/compute.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

#include "base/clock.hpp"

namespace hockney {

double Computing::error() const {
  return wanted_s_ > 0 ? std::abs(consumed_s_ / wanted_s_ - 1) : 0.0;
}

#ifdef HOCKNEY_SMPI

Computing::Computing(double preset_s) : preset_s_(preset_s) {}

void Computing::run() {
  pass(preset_s_);
}

void Computing::recheck() {}

const char* Computing::clock() const {
  return "simulated";
}

#else

namespace {

// A work is the loop alone where reading the clock three times would be more than a seventh of it.
constexpr double short_readings = 20;
// The pace is known to some percent only, since processors change their frequency: so much of what is left is
// looped before the clock is read again, until what is left is so short that its error does not count.
constexpr double safe_share = 0.96;
constexpr double short_rest_s = 5e-6;
// A pace found in so short a loop would be one of the clock's jitter.
constexpr double worth_learning_s = 4e-6;
constexpr double learning = 0.2;
// What an interrupt made of a loop says nothing about the pace.
constexpr double believable = 0.2;
constexpr double recheck_every_s = 5e-3;
constexpr double recheck_s = 20e-6;

constexpr double warm_up_s = 1e-3;
constexpr double trial_steps = 20000;
constexpr int trials = 21;

double middle(std::array<double, trials>& values) {
  std::nth_element(values.begin(), values.begin() + trials / 2, values.end());
  return values[trials / 2];
}

void follow(double& pace, double seen) {
  if (std::abs(seen / pace - 1) < believable) pace += learning * (seen - pace);
}

}  // namespace

Computing::Computing(double preset_s) : preset_s_(preset_s) {
  timespec time{};
  own_clock_ = clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0;
  if (preset_s_ > 0) find_pace();
}

const char* Computing::clock() const {
  return own_clock_ ? "thread" : "wall";
}

double Computing::read() const {
  if (!own_clock_) return now();
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Each step needs the result of the one before, so that the processor can neither skip nor overlap any; the
// empty statement keeps the compiler from doing so. Never inlined, so that there is one loop with one pace.
[[gnu::noinline]] void Computing::loop(std::uint64_t steps) {
  std::uint64_t x = state_;
  for (; steps > 0; --steps) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(x));
  }
  state_ = x;
}

void Computing::find_pace() {
  for (const double until = now() + warm_up_s; now() < until;) loop(1000);
  std::array<double, trials> readings;
  for (double& each : readings) {
    constexpr int in_a_row = 16;
    const double began = read();
    for (int i = 1; i < in_a_row; ++i) read();
    each = (read() - began) / in_a_row;
  }
  reading_s_ = middle(readings);
  std::array<double, trials> steps;
  for (double& each : steps) {
    const double began = read();
    loop(static_cast<std::uint64_t>(trial_steps));
    each = (read() - began - reading_s_) / trial_steps;
  }
  step_s_ = middle(steps);
  if (preset_s_ < short_readings * reading_s_) steps_ = std::max(1.0, preset_s_ / step_s_);
}

void Computing::run() {
  if (steps_ > 0)
    loop(static_cast<std::uint64_t>(std::lround(steps_)));
  else if (preset_s_ > 0)
    run_by_clock();
}

// From the moment at which a reading took its time to that of the next, one reading's time passes; before the
// first and after the last one together, another.
void Computing::run_by_clock() {
  const double began = read();
  const double ends = began + preset_s_ - reading_s_;
  double last = began;
  for (bool done = false; !done;) {
    const double left = ends - last - reading_s_;
    done = last != began && left < short_rest_s;
    const double steps = std::max(0.0, (done ? left : safe_share * left) / step_s_);
    loop(static_cast<std::uint64_t>(steps));
    const double time = read();
    if (steps * step_s_ > worth_learning_s) follow(step_s_, (time - last - reading_s_) / steps);
    last = time;
  }
  consumed_s_ += last - began + reading_s_;
  wanted_s_ += preset_s_;
}

void Computing::recheck() {
  if (steps_ <= 0 || (wanted_s_ > 0 && now() - checked_ < recheck_every_s)) return;
  const double runs = std::ceil(recheck_s / preset_s_);
  const double began = read();
  for (double i = 0; i < runs; ++i) run();
  const double consumed = read() - began - reading_s_;
  consumed_s_ += consumed;
  wanted_s_ += runs * preset_s_;
  double each = preset_s_;
  follow(each, consumed / runs);
  steps_ = std::max(1.0, steps_ * preset_s_ / each);
  checked_ = now();
}

#endif

}  // namespace hockney
