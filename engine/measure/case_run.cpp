// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/case_run.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <iterator>
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

// Seconds of computation in one run(), the maximum over the ranks, on every rank; none without computation.
std::optional<double> longest_computing(const Workload& workload, const Comm& control) {
  std::optional<double> computing_s = workload.computing_s();
  if (!computing_s) return computing_s;
  double longest_s = control.longest(*computing_s);
  control.broadcast(longest_s);
  return longest_s;
}

// Computation takes as long as the case requests: rejecting the case is better than ending it as a hang.
void refuse_endless(double computing_s, int back_to_back, const StopRule& rule) {
  const double least_s = computing_s * (back_to_back + 2);
  if (least_s <= rule.budget_s + rule.patience_s) return;
  std::ostringstream words;
  words << "computing alone lasts " << least_s << " s (the case may take " << rule.budget_s << " s, and "
        << rule.patience_s << " s later it counts as hung); give more time, or less work or iterations";
  throw InvalidCase(words.str());
}

// The same check if only the warm-up reveals how long a run takes. Collective: rank 0's clock and rule
// decide.
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

// On rank 0: the duration of the operation, from each rank's own `span`. The ranks did not start together,
// and a late rank may find its message already there; a common clock corrects for that.
double overall(const Span& span, const Comm& control) {
  if (!GlobalClock::given()) return control.longest(span.end - span.start);
  // One message carries the latest end and the earliest start, the latter negated so that both are maxima.
  double extremes[] = {span.end, -span.start};
  control.longest_each(extremes, 2);
  return extremes[0] + extremes[1];
}

// Windows need an estimate of the operation's time, which barriers can provide.
Synchroniser::Kind kind_for_warm_up(Synchroniser::Kind kind) {
  return kind == Synchroniser::Kind::none ? kind : Synchroniser::Kind::barrier;
}

bool buffers_are(const Values& values, const char* heat) {
  return values.has("buffers") && values.word("buffers") == heat;
}

// Whether each run uses buffers that are in no cache.
bool cold(const Values& values) {
  return buffers_are(values, "cold");
}

// Whether each run sends what its rank has written since the last one.
bool written(const Values& values) {
  return buffers_are(values, "written");
}

// Operations that follow one another leave no moment in which their next data could be written.
void refuse_unwritten(int back_to_back, int most_runs) {
  if (back_to_back <= most_runs) return;
  throw InvalidCase(
      std::to_string(back_to_back) + " operations follow one another, but only " + std::to_string(most_runs) +
      " buffers of this size can be written before and stay in a core's cache; use buffers=hot, "
      "a smaller size, sync=barrier or fewer iterations");
}

// The number of repetitions that a visit makes even if its time is up, if they take no more than half of the
// case's share.
int fewest_in(const VisitLimit& limit, int back_to_back, double repetition_s, const StopRule& rule) {
  const int fewest = (Method::fewest_runs + back_to_back - 1) / back_to_back;
  if (limit.only) return fewest;
  return repetition_s * fewest <= Method::visit_share * rule.budget_s ? fewest : 1;
}

}  // namespace

// Sets up the workload and its first payload. All ranks return from this at about the same time.
std::unique_ptr<Workload> CaseRun::set_up() {
  std::unique_ptr<Workload> workload;
  on_all(control_, [&] {
    workload = info_.make(place_, values_);
    const double began = now();
    workload->fill(new_payload());
    fill_s_ = now() - began;
    verifying_s_ += fill_s_;
  });
  return workload;
}

void CaseRun::visit(const VisitLimit& limit) {
  const bool first = result_.visits.empty();
  visit_began_ = now();
  const double started_s = date();
  payload_.most = first ? verified_at_first() : Method::verified_bytes;
  const std::unique_ptr<Workload> workload = set_up();
  const int back_to_back = workload->back_to_back();
  const int most_runs = written(values_) ? control_.lowest(place_.arena.most_runs()) : INT_MAX;
  refuse_unwritten(std::max(back_to_back, Synchroniser::least_batch(kind_)), most_runs);
  std::optional<double> computing_s;
  if (first) {
    result_.bytes_moved = workload->bytes_moved();
    computing_s = longest_computing(*workload, control_);
    if (computing_s) refuse_endless(*computing_s, back_to_back, rule_);
  }
  double first_s = run_s_;
  if (!single_run(*workload)) {
    const double already_s = verifying_s_;
    const Span first_run = verified_run(*workload);
    first_check_s_ = verifying_s_ - already_s;
    if (first) first_s = overall(first_run, control_);
  }
  const double until = now() + Method::warm_up_share * std::max(0.0, limit.ends - now());
  const bool warm = computing_s && *computing_s >= Method::warm_by_itself_s;
  const double most_s = first
                            ? Method::visit_share * rule_.budget_s
                            : std::min(Method::later_visit_share * rule_.budget_s, limit.launch_ends - now());
  const int fewest = cold(values_) ? 0 : fewest_warm_up(first_s, std::max(1, runs_), most_s);
  Synchroniser rough(kind_for_warm_up(kind_), info_, place_.arena, most_runs < INT_MAX, control_, clock_);
  const bool single = by_global_clock(info_.timing) || workload->prepared_each_time();
  WarmUp warm_up(rough, control_, clock_cost_, first_s, warm ? 0 : rule_.most_warm_up, single ? 1 : most_runs,
                 runs_, fewest);
  warm_up.run(*workload, until, limit.ends);
  // Errors count, but the record counts the runs that follow.
  for (const Check& found : workload->checked()) check_ += found;
  run_s_ = warm_up.run_s();
  bool extrapolated = false;
  if (first) {
    result_.warmup_s = warm_up.times();
    runs_ = std::max({warm_up.batch(), Synchroniser::least_batch(kind_), back_to_back});
    result_.batch = static_cast<int>(std::lround(runs_ * workload->operations()));
    refuse_too_many(run_s_, back_to_back, rule_, visit_began_, control_);
    extrapolated = runs_ > warm_up.batch() && run_s_ * runs_ > Method::long_repetition_s;
  }

  Synchroniser sync(kind_, info_, place_.arena, most_runs < INT_MAX, control_, clock_);
  sync.start(run_s_ * runs_);
  const auto before = static_cast<int>(result_.times_s.size());
  const long preempted_before = preemptions();
  repeat(*workload, sync, limit, extrapolated ? 1 : Method::first_chunk);
  double preempted = static_cast<double>(preemptions() - preempted_before);
  control_.total_each(&preempted, 1);
  if (sync.needs_clock())
    result_.clock_error_s = std::max(result_.clock_error_s.value_or(0.0), sync.residual());
  result_.late += sync.late();

  if (affords_another_) verify_another_run(*workload);
  report_ = record_report(*workload, info_.metrics, control_);
  keep(sync.metrics());
  const auto done = static_cast<int>(result_.times_s.size());
  result_.visits.push_back({started_s, now() - visit_began_, done - before, std::lround(preempted)});
}

// The repetitions of one visit, in chunks, until rank 0 decides to stop.
void CaseRun::repeat(Workload& workload, Synchroniser& sync, const VisitLimit& limit, int first_chunk) {
  double repetition_s = run_s_ * runs_;
  const auto already = static_cast<long>(result_.times_s.size());
  StopRule rule = rule_;
  rule.max_repetitions = limit.most_repetitions;
  if (!limit.only) rule.precision = -1;  // only several visits show this
  std::vector<double> times_s;
  for (;;) {
    watchdog::at(watchdog::decision, already + static_cast<long>(times_s.size()));
    Decision decision;
    if (control_.root()) {
      Progress progress;
      progress.done = static_cast<int>(times_s.size());
      if (limit.only && !times_s.empty()) progress.achieved = median_interval(times_s).relative();
      result_.achieved = progress.achieved;
      progress.repetition_s = repetition_s;
      progress.late = sync.late();
      progress.first_chunk = first_chunk;
      progress.fewest = fewest_in(limit, workload.back_to_back(), repetition_s, rule_);
      progress.left_s = limit.ends - now();  // last, because reading the clock may take time
      decision = decide(progress, rule);
      decision.done = already + progress.done;
      decision.verify_another = affords_another(workload, limit);
    }
    control_.broadcast(decision);
    if (decision.next == Next::give_up)
      throw InvalidCase(
          "the ranks cannot meet at one moment of the clock (they share cores, or the clocks drift); use "
          "sync=barrier");
    result_.stop_reason = stop_reason(decision.next);
    affords_another_ = decision.verify_another;
    if (decision.next != Next::repeat) break;
    workload.repetitions_follow(decision.done);
    const double began = now();
    const std::vector<double> chunk =
        sync.repeat(workload, decision.count, runs_, already + static_cast<long>(times_s.size()));
    const double chunk_s = now() - began;
    repetition_s = chunk_s / decision.count;
    all_runs_ += static_cast<std::uint64_t>(decision.count) * static_cast<std::uint64_t>(runs_);
    for (const Check& found : workload.checked()) count(found);
    verify_repetition(workload, chunk_s);
    times_s.insert(times_s.end(), chunk.begin(), chunk.end());
  }
  repetition_s_ = repetition_s;
  if (!times_s.empty()) medians_s_.push_back(median(times_s));
  result_.times_s.insert(result_.times_s.end(), times_s.begin(), times_s.end());
}

// Whether the only repetition is the only run: no warm-up is wanted, and the workload verifies every run.
bool CaseRun::single_run(const Workload& workload) const {
  return workload.prepared_each_time() && rule_.max_repetitions == 1 && rule_.most_warm_up == 0;
}

// Runs one operation with the payload filled in before, and compares the result. It does not count as a
// repetition: its time is only a first estimate.
Span CaseRun::verified_run(Workload& workload) {
  watchdog::at(watchdog::verification);
  workload.prepare(1);
  const double start = now();
  workload.run();
  const double end = now();
  verify(workload);
  ++all_runs_;
  return {start, end};
}

// Runs with a different payload, to detect messages that no longer arrive.
void CaseRun::verify_another_run(Workload& workload) {
  const double began = now();
  const double verifying_s = verifying_s_;
  workload.fill(new_payload());
  verified_run(workload);
  verifying_s_ = verifying_s + now() - began;
}

// On rank 0: whether a visit may spend the time for verify_another_run().
bool CaseRun::affords_another(const Workload& workload, const VisitLimit& limit) const {
  if (single_run(workload)) return false;
  if (!limit.only && workload.keeps_payload() && !result_.visits.empty()) return false;
  const double visit_s = limit.only ? rule_.budget_s : now() - visit_began_;
  return fill_s_ + run_s_ + first_check_s_ <= Method::verification_share * visit_s;
}

// Compares the last run of a chunk of repetitions, whose data no later run has overwritten. Each rank decides
// independently, because the next step, in which others wait for it, is not timed.
void CaseRun::verify_repetition(Workload& workload, double chunk_s) {
  if (!workload.keeps_payload() || check_s_ > Method::verification_share * chunk_s) return;
  check_s_ = verify(workload);
}

double CaseRun::verify(Workload& workload) {
  const double began = now();
  count(workload.verify(payload_));
  const double seconds = now() - began;
  verifying_s_ += seconds;
  return seconds;
}

void CaseRun::count(const Check& found) {
  check_ += found;
  if (found.bytes) ++verified_runs_;
}

// A seed that no other visit of this case has. All ranks fill equally often, so they agree on it.
const Payload& CaseRun::new_payload() {
  payload_.seed = mix(payload_.seed);
  return payload_;
}

// Rank 0's time decides, because all ranks must write and compare the same part.
std::size_t CaseRun::verified_at_first() const {
  const double affordable = Method::verification_rate * Method::verification_share * rule_.budget_s;
  std::size_t bytes = std::max(Method::verified_bytes, static_cast<std::size_t>(std::min(affordable, 1e15)));
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
                    {run->check_.bytes, run->check_.errors, run->verified_runs_, run->all_runs_});
    else
      counts.insert(counts.end(), 4, 0);
    seconds.push_back(run ? run->verifying_s_ : 0);
  }
  control.sum_each(counts.data(), static_cast<int>(counts.size()));
  control.longest_each(seconds.data(), static_cast<int>(seconds.size()));
  for (std::size_t k = 0; k < runs.size(); ++k)
    if (runs[k]) runs[k]->take_sums(&counts[4 * k], seconds[k]);
}

void CaseRun::take_sums(const std::uint64_t* counts, double seconds) {
  summed_ = true;
  result_.verified = {counts[0], counts[1], ""};
  result_.verified_runs = counts[2];
  result_.runs = counts[3];
  result_.verifying_s = seconds;
  if (result_.verified.errors == 0) return;
  // The lowest rank with a mismatch describes it.
  const int reporter = control_.lowest(check_.errors ? control_.rank : control_.size);
  const std::string first = "rank " + std::to_string(reporter) + ": " + check_.first;
  result_.verified.first = control_.joined(control_.rank == reporter ? first : "");
}

// Values per repetition are appended to those of the previous visits.
void CaseRun::keep(std::vector<MetricSeries>& series) {
  if (series_.empty()) {
    series_ = std::move(series);
    return;
  }
  HOCKNEY_EXPECT(series_.size() == series.size());
  for (std::size_t i = 0; i < series.size(); ++i)
    series_[i].values.insert(series_[i].values.end(), series[i].values.begin(), series[i].values.end());
}

std::optional<double> CaseRun::achieved() const {
  if (result_.visits.size() < 2) return result_.achieved;
  return medians_s_.empty() ? std::nullopt : median_interval(medians_s_).relative();
}

Measurement CaseRun::finish(const char* reason) {
  HOCKNEY_EXPECT(!result_.visits.empty());
  result_.achieved = achieved();
  if (reason) result_.stop_reason = reason;
  if (!summed_) sum_verified({this}, control_);
  result_.metrics = std::move(report_.metrics);
  std::move(series_.begin(), series_.end(), std::back_inserter(result_.metrics));
  result_.labels = std::move(report_.labels);
  return std::move(result_);
}

}  // namespace hockney
