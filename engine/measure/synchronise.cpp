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
constexpr double announcement_floor_s = 2e-6;  // per rank
constexpr double announcement_factor = 1.5;
// Large enough that filling the pipeline of a tree of 256 ranks, once per loop, adds less than a tenth.
constexpr int min_loop_runs = 64;
constexpr double never = std::numeric_limits<double>::max();

void divide(std::vector<double>& times, double divisor) {
  for (double& time : times) time /= divisor;
}

}  // namespace

Synchroniser::Kind Synchroniser::kind_of(const Values& values) {
  if (!values.has("sync")) return Kind::none;
  const std::string& word = values.word("sync");
  return word == "window" ? Kind::window : word == "loop" ? Kind::loop : Kind::barrier;
}

int Synchroniser::min_batch(Kind kind) {
  return kind == Kind::loop ? min_loop_runs : 1;
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
  if (!GlobalClock::is_global()) return;
  // If clocks need no exchange, there is time to measure how long an announcement takes. It may take long on
  // a simulated network, where a late repetition costs more. On a real machine, a rank that is preempted here
  // would make every series wait.
  const WindowSeries series = announce_windows();
  const double longest_s = control_.reduce_max(clock_.to_global(now()) - series.announcement_time);
  announcement_s_ = std::max(announcement_s_, announcement_factor * longest_s);
}

std::vector<double> Synchroniser::repeat(Workload& workload, int count, int batch,
                                         long previous_repetitions) {
  HOCKNEY_EXPECT(count >= 1 && batch >= 1);
  std::vector<double> times;
  if (by_global_clock(timing_))
    times = repeat_between_ranks(workload, count, previous_repetitions);
  else if (kind_ == Kind::none && !renews_)
    times = repeat_chained(workload, count, batch, previous_repetitions);
  else if (kind_ == Kind::window)
    times = repeat_in_windows(workload, count, batch, previous_repetitions);
  else
    times = repeat_after_barriers(workload, count, batch, previous_repetitions);
  divide(times, batch * workload.operations());
  if (!control_.root()) times.clear();
  return times;
}

std::vector<double> Synchroniser::repeat_chained(Workload& workload, int count, int batch,
                                                 long previous_repetitions) {
  watchdog::set_phase(watchdog::timing, previous_repetitions);  // once: nothing may come between the readings
  std::vector<double> times(static_cast<std::size_t>(count));
  control_.barrier();
  // If both sides send at once and there is no noise, a skew between them would never decay.
  if (GlobalClock::is_global()) wait_until(announce_windows().first);
  workload.start_series();
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
  workload.end_series();
  if (!workload.is_timed()) std::fill(times.begin(), times.end(), 0.0);
  if (timing_ == Timing::longest) control_.reduce_max(times.data(), count);
  samples_.finish(std::vector<bool>(times.size(), true));
  return times;
}

std::vector<double> Synchroniser::repeat_after_barriers(Workload& workload, int count, int batch,
                                                        long previous_repetitions) {
  std::vector<double> times(static_cast<std::size_t>(count));
  const double operations = batch * workload.operations();
  samples_.start(workload, count);
  for (int i = 0; i < count; ++i) {
    watchdog::set_phase(watchdog::timing, previous_repetitions + i);
    prepare(workload, batch);
    // Without noise, ranks leave a barrier as far apart as they entered it; let them enter together.
    if (kind_ == Kind::barrier && GlobalClock::is_global()) wait_until(announce_windows().first);
    control_.barrier();
    const double start = now();
    workload.run_batch(batch);
    times[static_cast<std::size_t>(i)] = now() - start;
    samples_.take(workload, operations);
  }
  if (timing_ == Timing::longest) control_.reduce_max(times.data(), count);
  samples_.finish(std::vector<bool>(times.size(), true));
  return times;
}

std::vector<double> Synchroniser::repeat_between_ranks(Workload& workload, int count,
                                                       long previous_repetitions) {
  // By the global clock: the last exit of each repetition, combined over the ranks, and the moment from which
  // its time is measured: the last entry or the first exit.
  std::vector<double> exits(static_cast<std::size_t>(count));
  std::vector<double> starts(static_cast<std::size_t>(count));
  const bool uses_last_entry = timing_ == Timing::last_entry;
  samples_.start(workload, count);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    watchdog::set_phase(watchdog::timing, previous_repetitions + i);
    prepare(workload, 1);
    if (GlobalClock::is_global()) wait_until(announce_windows().first);
    control_.barrier();
    workload.run();
    exits[at] = clock_.to_global(now());
    starts[at] = uses_last_entry ? clock_.to_global(workload.entry_time()) : exits[at];
    samples_.take(workload, workload.operations());
  }
  control_.reduce_max(exits.data(), count);
  if (uses_last_entry)
    control_.reduce_max(starts.data(), count);
  else
    control_.reduce_min(starts.data(), count);
  samples_.finish(std::vector<bool>(exits.size(), true));
  // A negative time is within the clock's error.
  std::vector<double> times(exits.size());
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = std::max(0.0, exits[i] - starts[i]);
  return times;
}

Synchroniser::WindowSeries Synchroniser::announce_windows() const {
  const double announcement_time = clock_.to_global(now());
  WindowSeries series{announcement_time, announcement_time + window_s_ + announcement_s_, window_s_};
  control_.broadcast(series);
  return series;
}

std::vector<double> Synchroniser::repeat_in_windows(Workload& workload, int count, int batch,
                                                    long previous_repetitions) {
  std::vector<double> times(static_cast<std::size_t>(count));
  const double operations = batch * workload.operations();
  WindowSeries series{};
  samples_.start(workload, count);
  for (int i = 0; i < count; ++i) {
    // Windows follow one another, but not for long: after a rank is preempted, all windows are missed until
    // the ranks agree on a new first one.
    if (i % windows_back_to_back == 0) series = announce_windows();
    watchdog::set_phase(watchdog::timing, previous_repetitions + i);
    const double opening = clock_.to_local(series.first + (i % windows_back_to_back) * series.width);
    prepare(workload, batch);
    const bool is_late = now() > opening;
    wait_until(opening);
    workload.run_batch(batch);
    times[static_cast<std::size_t>(i)] = is_late ? never : now() - opening;
    samples_.take(workload, operations);
    // A rank that finishes early sends nothing while others work, because it would compete with them for the
    // network.
    const int following = i % windows_back_to_back + 1;
    if (following == windows_back_to_back || i + 1 == count)
      wait_until(clock_.to_local(series.first + following * series.width));
  }
  control_.reduce_max(times.data(), count);
  std::vector<bool> on_time(times.size());
  std::transform(times.begin(), times.end(), on_time.begin(), [](double time) { return time != never; });
  samples_.finish(on_time);
  if (!control_.root()) return times;
  const int dropped_count = static_cast<int>(std::erase(times, never));
  late_count_ += dropped_count;
  // Wider, up to a limit: ranks that miss windows of a second will miss longer ones too.
  if (dropped_count * 4 > count) window_s_ = std::min(std::max(window_s_, widest_window_s), window_s_ * 1.5);
  return times;
}

}  // namespace hockney
