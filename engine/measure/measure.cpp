// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/measure.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <new>
#include <sstream>

#include "base/invalid_case.hpp"
#include "base/statistics.hpp"
#include "measure/warm_up.hpp"
#include "measure/watchdog.hpp"

namespace hockney {
namespace {

constexpr std::uint64_t seed_before = 0x5EED0001;
constexpr std::uint64_t seed_after = 0x5EED0002;

// The workload with its first payload. The ranks leave together.
std::unique_ptr<Workload> set_up(const WorkloadInfo& info, const Values& values, const Place& place,
                                 const Comm& control) {
  std::unique_ptr<Workload> workload;
  std::string refused;
  std::string problem;
  try {
    workload = info.make(place, values);
    workload->fill(seed_before);
  } catch (const InvalidCase& invalid) {
    refused = invalid.what();
  } catch (const OutOfMemory& error) {
    problem = error.what();
  } catch (const std::bad_alloc&) {
    problem = "a buffer cannot be allocated";
  }
  if (control.all(workload != nullptr)) return workload;
  // One rank may lack the memory for what the next one refuses: all leave together, with the same word.
  if (!control.all(refused.empty()))
    throw InvalidCase(refused.empty() ? "another rank refuses this case" : refused);
  throw OutOfMemory(problem.empty() ? "another rank's buffer does not fit into its host's memory" : problem);
}

struct Span {
  double start;
  double end;
};

// Seconds of computing in one run(): on every rank the most over them; none where they do not compute.
std::optional<double> longest_computing(const Workload& workload, const Comm& control) {
  std::optional<double> computing_s = workload.computing_s();
  if (!computing_s) return computing_s;
  double longest_s = control.longest(*computing_s);
  control.broadcast(longest_s);
  return longest_s;
}

// Computing takes as long as it was told to: better refused than ended as a hang.
void refuse_endless(double computing_s, int back_to_back, const StopRule& rule) {
  const double least_s = computing_s * (back_to_back + 2);
  if (least_s <= rule.budget_s + rule.patience_s) return;
  std::ostringstream words;
  words << "computing alone lasts " << least_s << " s (the case may take " << rule.budget_s << " s, and "
        << rule.patience_s << " s later it counts as hung); give more time, or less work or iterations";
  throw InvalidCase(words.str());
}

// The like where only the warm-up tells how long a run takes. Collective: rank 0's clock and rule count.
void refuse_too_many(double run_s, int back_to_back, const StopRule& rule, double started,
                     const Comm& control) {
  const double least_s = run_s * back_to_back;
  const bool fits = now() - started + least_s <= rule.budget_s + rule.patience_s;
  if (back_to_back == 1 || control.all(!control.root() || fits)) return;
  std::ostringstream words;
  words << "a repetition of " << back_to_back << " would take about " << least_s
        << " s, but the case may take " << rule.budget_s << " s and " << rule.patience_s
        << " s more; give more time, or fewer iterations";
  throw InvalidCase(words.str());
}

// One operation with the payload filled in before, which is then compared. It is no repetition: its time only
// serves as a first idea of how long one takes.
Span verified_run(Workload& workload, std::uint64_t seed, Check& check) {
  watchdog::at(watchdog::verification);
  workload.prepare(1);
  const double start = now();
  workload.run();
  const double end = now();
  check += workload.verify(seed);
  return {start, end};
}

// On rank 0: how long the operation took whose span on this rank is `span`. The ranks did not start together,
// and who starts late may find the message there; one clock for all sees through that.
double overall(const Span& span, const Comm& control) {
  if (!GlobalClock::given()) return control.longest(span.end - span.start);
  // In one message the latest end and the earliest start, as the largest of the negated ones.
  double extremes[] = {span.end, -span.start};
  control.longest_each(extremes, 2);
  return extremes[0] + extremes[1];
}

Check summed(const Check& check, const Comm& control) {
  std::uint64_t counts[] = {check.bytes, check.errors};
  control.sum_each(counts, 2);
  Check all{counts[0], counts[1], ""};
  if (all.errors == 0) return all;
  // The lowest rank with a mismatch describes it.
  const int reporter = control.lowest(check.errors ? control.rank : control.size);
  const std::string first = "rank " + std::to_string(reporter) + ": " + check.first;
  all.first = control.joined(control.rank == reporter ? first : "");
  return all;
}

// Windows need an estimate of the operation's time, which barriers can give.
Synchroniser::Kind kind_for_warm_up(Synchroniser::Kind kind) {
  return kind == Synchroniser::Kind::none ? kind : Synchroniser::Kind::barrier;
}

// What rank 0 looks at before it decides. The clock is read last, since reading it may take time.
Progress progress_of(const Measurement& result, double repetition_s, double ends) {
  Progress progress;
  progress.done = static_cast<int>(result.times_s.size());
  progress.achieved = result.achieved;
  progress.repetition_s = repetition_s;
  progress.late = result.late;
  progress.left_s = ends - now();
  return progress;
}

}  // namespace

Measurement Measurer::measure(const WorkloadInfo& info, const Values& values, const StopRule& rule,
                              double started) {
  const double ends = started + rule.budget_s;
  const std::unique_ptr<Workload> workload = set_up(info, values, place_, control_);
  const int back_to_back = workload->back_to_back();
  Measurement result;
  result.bytes_moved = workload->bytes_moved();
  const std::optional<double> computing_s = longest_computing(*workload, control_);
  if (computing_s) refuse_endless(*computing_s, back_to_back, rule);
  Check check;
  const double first_s = overall(verified_run(*workload, seed_before, check), control_);

  const Synchroniser::Kind kind = Synchroniser::kind_of(values);
  Synchroniser rough(kind_for_warm_up(kind), info, control_, clock_);
  const bool warm = computing_s && *computing_s >= Method::warm_by_itself_s;
  WarmUp warm_up(rough, control_, clock_cost_, first_s, warm ? 0 : rule.most_warm_up,
                 by_global_clock(info.timing));
  warm_up.run(*workload, now() + Method::warm_up_share * std::max(0.0, ends - now()), ends);
  result.warmup_s = warm_up.times();
  const int runs = std::max({warm_up.batch(), Synchroniser::least_batch(kind), back_to_back});
  result.batch = static_cast<int>(std::lround(runs * workload->operations()));

  refuse_too_many(warm_up.run_s(), back_to_back, rule, started, control_);
  Synchroniser sync(kind, info, control_, clock_);
  sync.start(warm_up.run_s() * runs);
  repeat(*workload, sync, rule, runs, warm_up, ends, result);
  if (sync.needs_clock()) result.clock_error_s = sync.residual();

  workload->fill(seed_after);
  verified_run(*workload, seed_after, check);
  result.verified = summed(check, control_);
  Report report = record_report(*workload, info.metrics, control_);
  result.metrics = std::move(report.metrics);
  std::move(sync.metrics().begin(), sync.metrics().end(), std::back_inserter(result.metrics));
  result.labels = std::move(report.labels);
  return result;
}

// Repetitions of `runs` runs each, in chunks, until rank 0 decides to stop.
void Measurer::repeat(Workload& workload, Synchroniser& sync, const StopRule& rule, int runs,
                      const WarmUp& warm_up, double ends, Measurement& result) {
  double repetition_s = warm_up.run_s() * runs;
  const bool extrapolated = runs > warm_up.batch() && repetition_s > Method::long_repetition_s;
  const int back_to_back = workload.back_to_back();
  for (;;) {
    watchdog::at(watchdog::decision, static_cast<long>(result.times_s.size()));
    Decision decision;
    if (control_.root()) {
      if (!result.times_s.empty()) result.achieved = median_interval(result.times_s).relative();
      Progress progress = progress_of(result, repetition_s, ends);
      progress.first_chunk = extrapolated ? 1 : Method::first_chunk;
      progress.fewest = (Method::fewest_runs + back_to_back - 1) / back_to_back;
      decision = decide(progress, rule);
    }
    control_.broadcast(decision);
    if (decision.next == Next::give_up)
      throw InvalidCase(
          "the ranks cannot meet at one moment of the clock (they share cores, or the clocks drift); use "
          "sync=barrier");
    if (decision.next != Next::repeat) {
      result.stop_reason = stop_reason(decision.next);
      return;
    }
    const double began = now();
    const std::vector<double> times =
        sync.repeat(workload, decision.count, runs, static_cast<long>(result.times_s.size()));
    repetition_s = (now() - began) / decision.count;
    result.late = sync.late();
    result.times_s.insert(result.times_s.end(), times.begin(), times.end());
  }
}

}  // namespace hockney
