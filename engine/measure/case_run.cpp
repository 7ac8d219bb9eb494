// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/case_run.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <iterator>
#include <numeric>
#include <sstream>

#include "base/expect.hpp"
#include "base/invalid_case.hpp"
#include "base/random.hpp"
#include "base/statistics.hpp"
#include "comm/environment.hpp"
#include "measure/agreement.hpp"
#include "measure/warm_up.hpp"
#include "measure/watchdog.hpp"

namespace hockney {
namespace {

// Seconds of computation in one run(): the maximum over the ranks, the same on every rank. Returns nothing
// for a workload that does not compute.
std::optional<double> max_computing_s(const Workload& workload, const Comm& control) {
  std::optional<double> computing_s = workload.computing_s();
  if (!computing_s) return computing_s;
  double longest_s = control.reduce_max(*computing_s);
  control.broadcast(longest_s);
  return longest_s;
}

// Computation takes as long as the case requests, so rejecting an excessive case is better than reporting a
// hang later.
void reject_endless_computing(double computing_s, int back_to_back, const StopRule& rule) {
  const double min_s = computing_s * (back_to_back + 2);
  if (min_s <= rule.budget_s + rule.patience_s) return;
  std::ostringstream message;
  message << "computing alone lasts " << min_s << " s (the case may take " << rule.budget_s << " s, and "
          << rule.patience_s << " s later it counts as hung); give more time, or less work or iterations";
  throw InvalidCase(message.str());
}

// The same check for a run whose duration only the warm-up reveals. Collective: rank 0's clock and rule
// decide.
void reject_excessive_runs(double run_s, int back_to_back, const StopRule& rule, double started,
                           const Comm& control) {
  const double min_s = run_s * back_to_back;
  const bool fits = now() - started + min_s <= rule.budget_s + rule.patience_s;
  if (back_to_back == 1 || control.all(!control.root() || fits)) return;
  std::ostringstream message;
  message << "a repetition of " << back_to_back << " would take about " << min_s
          << " s, but the case may take " << rule.budget_s << " s and " << rule.patience_s
          << " s more; give more time, or fewer iterations";
  throw InvalidCase(message.str());
}

// On rank 0: the duration of the operation, from each rank's `span`. The ranks did not start at the same
// time, and a late rank may find that its message has already arrived; a common clock corrects for that.
double operation_duration(const Span& span, const Comm& control) {
  if (!GlobalClock::is_global()) return control.reduce_max(span.end - span.start);
  // One message carries the latest end and the earliest start, the latter negated so that both are maxima.
  double extremes[] = {span.end, -span.start};
  control.reduce_max(extremes, 2);
  return extremes[0] + extremes[1];
}

// Windows need an estimate of the operation's time, which barriers can provide.
Synchroniser::Kind kind_for_warm_up(Synchroniser::Kind kind) {
  return kind == Synchroniser::Kind::none ? kind : Synchroniser::Kind::barrier;
}

bool uses_buffers(const Values& values, const char* heat) {
  return values.has("buffers") && values.word("buffers") == heat;
}

// Whether every run uses buffers that are in no cache.
bool has_cold_buffers(const Values& values) {
  return uses_buffers(values, "cold");
}

// Whether every run sends data that its rank has written since the previous run.
bool has_written_buffers(const Values& values) {
  return uses_buffers(values, "written");
}

// Back-to-back operations leave no time to write the next data in between.
void reject_unwritable_runs(int back_to_back, int max_runs) {
  if (back_to_back <= max_runs) return;
  throw InvalidCase(
      std::to_string(back_to_back) + " operations follow one another, but only " + std::to_string(max_runs) +
      " buffers of this size can be written before and stay in a core's cache; use buffers=hot, "
      "a smaller size, sync=barrier or fewer iterations");
}

// The smallest multiple of `cycle` that is at least `count`.
int whole_cycles(int count, int cycle) {
  return (count + cycle - 1) / cycle * cycle;
}

// Number of repetitions that a visit makes even if its time is up, provided that they take at most half of
// the case's share.
int min_repetitions_of_visit(const VisitLimit& limit, int back_to_back, double repetition_s,
                             const StopRule& rule) {
  const int min_repetitions = (Method::min_runs + back_to_back - 1) / back_to_back;
  if (limit.only) return min_repetitions;
  return repetition_s * min_repetitions <= Method::visit_share * rule.budget_s ? min_repetitions : 1;
}

// The number of repetitions that a visit makes even if its time is up: those of the workload's minimum number
// of cycles, or of as many as fit into the case's share, but at least one cycle.
int min_repetitions_of_cycles(const Workload& workload, double repetition_s, const StopRule& rule) {
  const double cycle_s = std::max(repetition_s, 1e-9) * workload.cycle();
  const double affordable_cycles = rule.budget_s / cycle_s;
  return workload.cycle() * static_cast<int>(std::clamp(affordable_cycles, 1.0, 1.0 * workload.min_cycles()));
}

// Number of repetitions of a series that takes `series_s` to start and end: those that take as long, and at
// least those of a median unless they take too long.
int min_distribution_chunk(double run_s, double series_s, const StopRule& rule) {
  const double worthwhile = std::ceil(series_s / std::max(run_s, 1e-9));
  const double longest_s = Method::later_visit_share * rule.budget_s;
  const int median = Method::min_distribution_runs * run_s <= longest_s ? Method::min_distribution_runs : 1;
  return std::max(median, static_cast<int>(std::min(worthwhile, 1e6)));
}

}  // namespace

// Sets up the workload and its first payload. Returns at about the same time on all ranks.
std::unique_ptr<Workload> CaseRun::set_up() {
  std::unique_ptr<Workload> workload;
  run_on_all_ranks(control_, [&] {
    workload = info_.make(place_, values_);
    const double start_s = now();
    workload->fill(new_payload());
    fill_s_ = now() - start_s;
    verifying_s_ += fill_s_;
  });
  return workload;
}

void CaseRun::visit(const VisitLimit& limit) {
  const bool first = result_.visits.empty();
  visit_start_s_ = now();
  const double started_s = date();
  payload_.max_bytes = first ? initial_verified_bytes() : Method::verified_bytes;
  const std::unique_ptr<Workload> workload = set_up();
  const int back_to_back = workload->back_to_back();
  const int max_runs = has_written_buffers(values_) ? control_.reduce_min(place_.arena.max_runs()) : INT_MAX;
  reject_unwritable_runs(std::max(back_to_back, Synchroniser::min_batch(kind_)), max_runs);
  if (first) {
    result_.bytes_moved = workload->bytes_moved();
    computing_s_ = max_computing_s(*workload, control_);
    if (computing_s_) reject_endless_computing(*computing_s_, back_to_back, rule_);
  }
  double first_s = run_s_;
  if (!single_run(*workload)) {
    const double previous_verifying_s = verifying_s_;
    const Span first_span = verified_run(*workload);
    first_check_s_ = verifying_s_ - previous_verifying_s;
    if (first) first_s = operation_duration(first_span, control_);
  }
  const double warm_up_deadline = now() + Method::warm_up_share * std::max(0.0, limit.deadline - now());
  const bool is_warm = first ? computing_s_ && *computing_s_ >= Method::warm_by_itself_s : warms_in_series();
  const double max_s =
      first ? Method::visit_share * rule_.budget_s
            : std::min(Method::later_visit_share * rule_.budget_s, limit.launch_deadline - now());
  const int min_repetitions =
      is_warm || has_cold_buffers(values_) ? 0 : min_warm_up_repetitions(first_s, std::max(1, runs_), max_s);
  Synchroniser warm_up_sync(kind_for_warm_up(kind_), info_, place_.arena, max_runs < INT_MAX, control_,
                            clock_);
  const bool is_single =
      by_global_clock(info_.timing) || workload->prepared_each_time() || info_.shows_distribution;
  WarmUp warm_up(warm_up_sync, control_, clock_cost_, first_s, is_warm ? 0 : rule_.max_warm_up,
                 is_single ? 1 : max_runs, runs_, min_repetitions);
  warm_up.run(*workload, warm_up_deadline, limit.deadline);
  if (first && info_.shows_distribution) series_s_ = warm_up.series_s();
  // Errors count, but the record only counts subsequent runs.
  for (const Check& found : workload->take_checks()) check_ += found;
  // Runs of the warm-up may be shorter than repetitions.
  run_s_ = std::max(warm_up.run_s(), computing_s_.value_or(0));
  bool extrapolated = false;
  if (first) {
    result_.warmup_s = warm_up.times();
    runs_ = std::max({warm_up.batch(), Synchroniser::min_batch(kind_), back_to_back});
    result_.batch = static_cast<int>(std::lround(runs_ * workload->operations()));
    reject_excessive_runs(run_s_, back_to_back, rule_, visit_start_s_, control_);
    const bool is_estimate = runs_ > warm_up.batch() || run_s_ > warm_up.run_s();
    extrapolated = is_estimate && run_s_ * runs_ > Method::long_repetition_s;
  }

  Synchroniser sync(kind_, info_, place_.arena, max_runs < INT_MAX, control_, clock_);
  sync.start(run_s_ * runs_);
  const auto before = static_cast<int>(result_.times_s.size());
  const long preempted_before = preemptions();
  repeat(*workload, sync, limit, extrapolated ? 1 : Method::first_chunk);
  double preemption_count = static_cast<double>(preemptions() - preempted_before);
  control_.reduce_sum(&preemption_count, 1);
  if (sync.needs_clock())
    result_.clock_error_s = std::max(result_.clock_error_s.value_or(0.0), sync.residual());
  result_.late_count += sync.late_count();

  if (can_afford_verification_) verify_another_run(*workload);
  report_ = record_report(*workload, info_.metrics, control_);
  keep(sync.metrics());
  const auto repetition_count = static_cast<int>(result_.times_s.size());
  result_.visits.push_back(
      {started_s, now() - visit_start_s_, repetition_count - before, std::lround(preemption_count)});
}

// The repetitions of one visit, in chunks, until rank 0 decides to stop.
void CaseRun::repeat(Workload& workload, Synchroniser& sync, const VisitLimit& limit, int first_chunk) {
  double repetition_s = run_s_ * runs_;
  const auto previous_repetitions = static_cast<long>(result_.times_s.size());
  StopRule rule = rule_;
  const int cycle = workload.cycle();
  const int min_count = workload.min_cycles() * cycle;
  rule.max_repetitions = std::max(whole_cycles(limit.max_repetitions, cycle), min_count);
  // A single visit cannot show precision when there are several.
  if (!limit.only || info_.shows_distribution) rule.precision = -1;
  std::vector<double> times_s;
  for (;;) {
    watchdog::set_phase(watchdog::decision, previous_repetitions + static_cast<long>(times_s.size()));
    Decision decision;
    if (control_.root()) {
      Progress progress;
      progress.repetitions = static_cast<int>(times_s.size());
      if (limit.only && !times_s.empty()) progress.achieved_precision = median_interval(times_s).relative();
      result_.achieved_precision = progress.achieved_precision;
      progress.repetition_s = repetition_s;
      progress.late_count = sync.late_count();
      progress.first_chunk = first_chunk;
      progress.min_repetitions =
          std::max(min_repetitions_of_visit(limit, workload.back_to_back(), repetition_s, rule_),
                   min_repetitions_of_cycles(workload, repetition_s, rule_));
      if (info_.shows_distribution) progress.min_chunk = min_distribution_chunk(run_s_, series_s_, rule_);
      progress.remaining_s = limit.deadline - now();  // last, because reading the clock may take time
      decision = decide(progress, rule);
      decision.count = whole_cycles(decision.count, cycle);
      decision.previous_repetitions = previous_repetitions + progress.repetitions;
      decision.verify_another = can_afford_verification(workload, limit);
    }
    control_.broadcast(decision);
    if (decision.next == Next::give_up)
      throw InvalidCase(
          "the ranks cannot meet at one moment of the clock (they share cores, or the clocks drift); use "
          "sync=barrier");
    result_.stop_reason = stop_reason(decision.next);
    can_afford_verification_ = decision.verify_another;
    if (decision.next != Next::repeat) break;
    workload.repetitions_follow(decision.previous_repetitions);
    const double start_s = now();
    const std::vector<double> chunk = sync.repeat(workload, decision.count, runs_,
                                                  previous_repetitions + static_cast<long>(times_s.size()));
    const double chunk_s = now() - start_s;
    repetition_s = chunk_s / decision.count;
    if (info_.shows_distribution) series_s_ = chunk_s - std::reduce(chunk.begin(), chunk.end()) * runs_;
    run_count_ += static_cast<std::uint64_t>(decision.count) * static_cast<std::uint64_t>(runs_);
    for (const Check& found : workload.take_checks()) count(found);
    verify_repetition(workload, chunk_s);
    times_s.insert(times_s.end(), chunk.begin(), chunk.end());
  }
  repetition_s_ = repetition_s;
  if (!times_s.empty()) medians_s_.push_back(median(times_s));
  result_.times_s.insert(result_.times_s.end(), times_s.begin(), times_s.end());
}

// Whether a later visit needs no warm-up, because starting a series takes longer. Collective.
bool CaseRun::warms_in_series() const {
  if (!info_.shows_distribution) return false;
  bool warms = control_.root() && series_s_ > Method::min_warm_up_runs * run_s_;
  control_.broadcast(warms);
  return warms;
}

// Whether the case consists of a single run: it requests no warm-up, and the workload verifies every run.
bool CaseRun::single_run(const Workload& workload) const {
  return workload.prepared_each_time() && rule_.max_repetitions == 1 && rule_.max_warm_up == 0;
}

// Runs one operation with the payload written earlier, and compares the result. It does not count as a
// repetition: its time is only a first estimate.
Span CaseRun::verified_run(Workload& workload) {
  watchdog::set_phase(watchdog::verification);
  workload.prepare(1);
  const double start = now();
  workload.run();
  const double end = now();
  verify(workload);
  ++run_count_;
  return {start, end};
}

// Runs with a different payload, to detect messages that no longer arrive.
void CaseRun::verify_another_run(Workload& workload) {
  const double start_s = now();
  const double verifying_s = verifying_s_;
  workload.fill(new_payload());
  verified_run(workload);
  verifying_s_ = verifying_s + now() - start_s;
}

// On rank 0: whether a visit has time for verify_another_run().
bool CaseRun::can_afford_verification(const Workload& workload, const VisitLimit& limit) const {
  if (single_run(workload)) return false;
  if (!limit.only && workload.keeps_payload() && !result_.visits.empty()) return false;
  const double visit_s = limit.only ? rule_.budget_s : now() - visit_start_s_;
  return fill_s_ + run_s_ + first_check_s_ <= Method::verification_share * visit_s;
}

// Compares the last run of a chunk of repetitions, whose data no later run has overwritten. Each rank decides
// independently, because the next step, in which others wait for it, is not timed.
void CaseRun::verify_repetition(Workload& workload, double chunk_s) {
  if (!workload.keeps_payload() || check_s_ > Method::verification_share * chunk_s) return;
  check_s_ = verify(workload);
}

double CaseRun::verify(Workload& workload) {
  const double start_s = now();
  count(workload.verify(payload_));
  const double seconds = now() - start_s;
  verifying_s_ += seconds;
  return seconds;
}

void CaseRun::count(const Check& check) {
  check_ += check;
  if (check.bytes) ++verified_runs_;
}

// Returns a payload whose seed no other visit of this case uses. All ranks fill equally often, so they agree
// on the seed.
const Payload& CaseRun::new_payload() {
  payload_.seed = mix(payload_.seed);
  return payload_;
}

// Rank 0's time decides, because all ranks must write and compare the same part.
std::size_t CaseRun::initial_verified_bytes() const {
  const double affordable_repetitions =
      Method::verification_rate * Method::verification_share * rule_.budget_s;
  std::size_t bytes =
      std::max(Method::verified_bytes, static_cast<std::size_t>(std::min(affordable_repetitions, 1e15)));
  control_.broadcast(bytes);
  return bytes;
}

// One message for all cases: on a busy machine each one may wait for a rank's turn.
void CaseRun::sum_verified(const std::vector<CaseRun*>& runs, const Comm& control) {
  std::vector<std::uint64_t> counts;
  std::vector<double> seconds;
  for (const CaseRun* run : runs) {
    if (run)
      counts.insert(counts.end(),
                    {run->check_.bytes, run->check_.errors, run->verified_runs_, run->run_count_});
    else
      counts.insert(counts.end(), 4, 0);
    seconds.push_back(run ? run->verifying_s_ : 0);
  }
  control.allreduce_sum(counts.data(), static_cast<int>(counts.size()));
  control.reduce_max(seconds.data(), static_cast<int>(seconds.size()));
  for (std::size_t k = 0; k < runs.size(); ++k)
    if (runs[k]) runs[k]->set_sums(&counts[4 * k], seconds[k]);
}

void CaseRun::set_sums(const std::uint64_t* counts, double seconds) {
  summed_ = true;
  result_.verified = {counts[0], counts[1], ""};
  result_.verified_runs = counts[2];
  result_.runs = counts[3];
  result_.verifying_s = seconds;
  if (result_.verified.errors == 0) return;
  // The lowest rank with a mismatch describes it.
  const int reporter = control_.reduce_min(check_.errors ? control_.rank : control_.size);
  const std::string first = "rank " + std::to_string(reporter) + ": " + check_.first;
  result_.verified.first = control_.gather_text(control_.rank == reporter ? first : "");
}

// Values per repetition are appended to those of the previous visits.
void CaseRun::keep(std::vector<MetricSeries>& series) {
  if (series_.empty()) {
    series_ = std::move(series);
    return;
  }
  HOCKNEY_EXPECT(series_.size() == series.size());
  for (std::size_t i = 0; i < series.size(); ++i) {
    series_[i].values.insert(series_[i].values.end(), series[i].values.begin(), series[i].values.end());
    series_[i].counts.insert(series_[i].counts.end(), series[i].counts.begin(), series[i].counts.end());
  }
}

std::optional<double> CaseRun::achieved_precision() const {
  if (result_.visits.size() < 2) return result_.achieved_precision;
  return medians_s_.empty() ? std::nullopt : median_interval(medians_s_).relative();
}

Measurement CaseRun::finish(const char* reason) {
  HOCKNEY_EXPECT(!result_.visits.empty());
  result_.achieved_precision = achieved_precision();
  if (reason) result_.stop_reason = reason;
  if (!summed_) sum_verified({this}, control_);
  result_.metrics = std::move(report_.metrics);
  std::move(series_.begin(), series_.end(), std::back_inserter(result_.metrics));
  result_.labels = std::move(report_.labels);
  return std::move(result_);
}

}  // namespace hockney
