// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/synchronise.hpp"

#include <algorithm>
#include <limits>

#include "base/clock.hpp"
#include "base/expect.hpp"
#include "measure/watchdog.hpp"

namespace hockney {
namespace {

// Ranks leave the previous step at different moments; untimed runs bring a self-synchronising workload into
// step. A run much longer than that skew needs none.
constexpr int short_lead_in = 2;
constexpr double long_run_s = 1e-3;
// A window holds this many times the operation, so that one slow repetition does not make the next one late.
constexpr double window_factor = 3.0;
constexpr double window_floor_s = 5e-6;
constexpr int windows_back_to_back = 32;
constexpr double widest_window_s = 1.0;
constexpr double announcement_floor_s = 2e-6;  // for each rank
constexpr double announcement_factor = 1.5;
// Enough that filling the pipeline of a tree of 256 ranks, once per loop, adds less than a tenth.
constexpr int least_loop = 64;
constexpr double never = std::numeric_limits<double>::max();

void divide(std::vector<double>& times, double by) {
  for (double& time : times) time /= by;
}

}  // namespace

Synchroniser::Kind Synchroniser::kind_of(const Values& values) {
  if (!values.has("sync")) return Kind::none;
  const std::string& word = values.word("sync");
  return word == "window" ? Kind::window : word == "loop" ? Kind::loop : Kind::barrier;
}

int Synchroniser::least_batch(Kind kind) {
  return kind == Kind::loop ? least_loop : 1;
}

const char* Synchroniser::name(Kind kind) {
  switch (kind) {
    case Kind::none: return "none";
    case Kind::barrier: return "barrier";
    case Kind::window: return "window";
    case Kind::loop: return "loop";
  }
  return "none";
}

void Synchroniser::start(double operation_s) {
  lead_in_ = operation_s < long_run_s ? short_lead_in : 0;
  if (needs_clock()) clock_.synchronise(control_);
  if (kind_ == Kind::window) window_s_ = std::max(window_floor_s, window_factor * operation_s);
  if (kind_ == Kind::loop) return;
  announcement_s_ = announcement_floor_s * control_.size;
  if (!GlobalClock::given()) return;
  // If clocks need no exchange, there is time to measure how long an announcement takes, which may be long on
  // a simulated network, where a late repetition costs more. On a real machine a rank preempted here would
  // make every row wait.
  const Row row = announced();
  const double longest_s = control_.longest(clock_.to_global(now()) - row.announced_at);
  announcement_s_ = std::max(announcement_s_, announcement_factor * longest_s);
}

std::vector<double> Synchroniser::repeat(Workload& workload, int count, int batch, long already) {
  HOCKNEY_EXPECT(count >= 1 && batch >= 1);
  std::vector<double> times;
  if (by_global_clock(timing_))
    times = between_ranks(workload, count, already);
  else if (kind_ == Kind::none && !renews_)
    times = chained(workload, count, batch, already);
  else if (kind_ == Kind::window)
    times = in_windows(workload, count, batch, already);
  else
    times = after_barriers(workload, count, batch, already);
  divide(times, batch * workload.operations());
  if (!control_.root()) times.clear();
  return times;
}

std::vector<double> Synchroniser::chained(Workload& workload, int count, int batch, long already) {
  watchdog::at(watchdog::timing, already);  // once: nothing may come between the readings
  std::vector<double> times(static_cast<std::size_t>(count));
  control_.barrier();
  // If both sides send at once and there is no noise, a skew between them would never decay.
  if (GlobalClock::given()) wait_until(announced().first);
  prepare(workload, lead_in_);
  workload.run_batch(lead_in_);
  const double operations = batch * workload.operations();
  samples_.start(workload, count);
  double start = now();
  for (double& time : times) {
    workload.run_batch(batch);
    const double end = now();
    time = end - start;
    start = end;
    if (samples_.empty()) continue;
    samples_.take(workload, operations);
    start = now();
  }
  if (timing_ == Timing::longest) control_.longest_each(times.data(), count);
  samples_.finish(std::vector<bool>(times.size(), true));
  return times;
}

std::vector<double> Synchroniser::after_barriers(Workload& workload, int count, int batch, long already) {
  std::vector<double> times(static_cast<std::size_t>(count));
  const double operations = batch * workload.operations();
  samples_.start(workload, count);
  for (int i = 0; i < count; ++i) {
    watchdog::at(watchdog::timing, already + i);
    prepare(workload, batch);
    // Without noise, ranks leave a barrier as far apart as they entered it; let them enter together.
    if (kind_ == Kind::barrier && GlobalClock::given()) wait_until(announced().first);
    control_.barrier();
    const double start = now();
    workload.run_batch(batch);
    times[static_cast<std::size_t>(i)] = now() - start;
    samples_.take(workload, operations);
  }
  if (timing_ == Timing::longest) control_.longest_each(times.data(), count);
  samples_.finish(std::vector<bool>(times.size(), true));
  return times;
}

std::vector<double> Synchroniser::between_ranks(Workload& workload, int count, long already) {
  // By the global clock: the last exit of each repetition, combined over the ranks, and the moment from which
  // its time counts: the last entry or the first exit.
  std::vector<double> exits(static_cast<std::size_t>(count));
  std::vector<double> starts(static_cast<std::size_t>(count));
  const bool from_last_entry = timing_ == Timing::last_entry;
  samples_.start(workload, count);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    watchdog::at(watchdog::timing, already + i);
    prepare(workload, 1);
    if (GlobalClock::given()) wait_until(announced().first);
    control_.barrier();
    workload.run();
    exits[at] = clock_.to_global(now());
    starts[at] = from_last_entry ? clock_.to_global(workload.entered()) : exits[at];
    samples_.take(workload, workload.operations());
  }
  control_.longest_each(exits.data(), count);
  if (from_last_entry)
    control_.longest_each(starts.data(), count);
  else
    control_.lowest_each(starts.data(), count);
  samples_.finish(std::vector<bool>(exits.size(), true));
  // A negative time is smaller than the clock's error.
  std::vector<double> times(exits.size());
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = std::max(0.0, exits[i] - starts[i]);
  return times;
}

Synchroniser::Row Synchroniser::announced() const {
  const double announced_at = clock_.to_global(now());
  Row row{announced_at, announced_at + window_s_ + announcement_s_, window_s_};
  control_.broadcast(row);
  return row;
}

std::vector<double> Synchroniser::in_windows(Workload& workload, int count, int batch, long already) {
  std::vector<double> times(static_cast<std::size_t>(count));
  const double operations = batch * workload.operations();
  Row row{};
  samples_.start(workload, count);
  for (int i = 0; i < count; ++i) {
    // Windows follow one another, but not for long: after a rank is preempted, all windows are missed until
    // the ranks agree on a new first one.
    if (i % windows_back_to_back == 0) row = announced();
    watchdog::at(watchdog::timing, already + i);
    const double opens = clock_.to_local(row.first + (i % windows_back_to_back) * row.width);
    prepare(workload, batch);
    const bool late = now() > opens;
    wait_until(opens);
    workload.run_batch(batch);
    times[static_cast<std::size_t>(i)] = late ? never : now() - opens;
    samples_.take(workload, operations);
    // A rank that finishes early sends nothing while others work, because it would share the wire with them.
    const int following = i % windows_back_to_back + 1;
    if (following == windows_back_to_back || i + 1 == count)
      wait_until(clock_.to_local(row.first + following * row.width));
  }
  control_.longest_each(times.data(), count);
  std::vector<bool> in_time(times.size());
  std::transform(times.begin(), times.end(), in_time.begin(), [](double time) { return time != never; });
  samples_.finish(in_time);
  if (!control_.root()) return times;
  const int dropped = static_cast<int>(std::erase(times, never));
  late_ += dropped;
  // Wider, up to a limit: ranks that miss windows of a second will miss longer ones too.
  if (dropped * 4 > count) window_s_ = std::min(std::max(window_s_, widest_window_s), window_s_ * 1.5);
  return times;
}

}  // namespace hockney
