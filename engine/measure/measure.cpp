// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/measure.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <sstream>

#include "base/refusal.hpp"
#include "base/statistics.hpp"
#include "measure/watchdog.hpp"

namespace hockney {
namespace {

constexpr std::uint64_t seed_before = 0x5EED0001;
constexpr std::uint64_t seed_after = 0x5EED0002;

// The clock may take 2% of a repetition, and its step 10%. With the customary 5% reading the clock would by
// itself use up the fidelity promised against a loop that reads it once (benchmarks/fidelity.py).
constexpr double clock_share = 0.02;
constexpr double step_share = 0.10;
constexpr int largest_batch = 100000;

constexpr int warm_up_block = 8;
// Settled: a block no more than 3% faster than the one before.
constexpr double settled = 0.97;
constexpr double warm_up_share = 0.15;

constexpr int first_chunk = 30;
constexpr double long_repetition_s = 10e-3;
// Looking too often at an interval that shrinks by chance ends too early; so the sample grows by half between
// looks.
constexpr double growth = 0.5;
constexpr int largest_chunk = 5000;
// An interval from fewer repetitions may be narrow by luck: times come in modes that last for tens of
// messages, and 30 repetitions may see one mode only. With 30 the interval at which a case stops would cover
// 58% where there are two modes, with 300 it covers as often as that of a fixed number
// (benchmarks/coverage.py, part stopping).
constexpr int fewest_for_precision = 300;
// A case whose time is up still gets repetitions of so many runs, where one takes no more than the case's
// share.
constexpr int fewest = 5;
// A run that computes for so long is warm after the first one.
constexpr double warm_by_itself_s = 10e-3;
// Windows missed, with the time up, before a case is given up.
constexpr int most_attempts = 200;

// The workload with its first payload. The ranks leave together.
std::unique_ptr<Workload> set_up(const WorkloadInfo& info, const Values& values, const Place& place,
                                 const Comm& control) {
  std::unique_ptr<Workload> workload;
  std::string refused;
  std::string problem;
  try {
    workload = info.make(place, values);
    workload->fill(seed_before);
  } catch (const Refusal& refusal) {
    refused = refusal.what();
  } catch (const OutOfMemory& error) {
    problem = error.what();
  } catch (const std::bad_alloc&) {
    problem = "a buffer cannot be allocated";
  }
  if (control.all(workload != nullptr)) return workload;
  // One rank may lack the memory for what the next one refuses: all leave together, with the same word.
  if (!control.all(refused.empty()))
    throw Refusal(refused.empty() ? "another rank refuses this case" : refused);
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
void refuse_endless(double computing_s, int in_a_row, const StopRule& rule) {
  const double least_s = computing_s * (in_a_row + 2);
  if (least_s <= rule.budget_s + rule.patience_s) return;
  std::ostringstream words;
  words << "computing alone lasts " << least_s << " s (the case may take " << rule.budget_s << " s, and "
        << rule.patience_s << " s later it counts as hung); give more time, or less work or iterations";
  throw Refusal(words.str());
}

// The like where only the warm-up tells how long a run takes. Collective: rank 0's clock and rule count.
void refuse_too_many(double run_s, int in_a_row, const StopRule& rule, double started, const Comm& control) {
  const double least_s = run_s * in_a_row;
  const bool fits = now() - started + least_s <= rule.budget_s + rule.patience_s;
  if (in_a_row == 1 || control.all(!control.root() || fits)) return;
  std::ostringstream words;
  words << "a repetition of " << in_a_row << " would take about " << least_s << " s, but the case may take "
        << rule.budget_s << " s and " << rule.patience_s << " s more; give more time, or fewer iterations";
  throw Refusal(words.str());
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

// On rank 0: how long the operation took whose span on this rank is `mine`. The ranks did not start together,
// and who starts late may find the message there; one clock for all sees through that.
double overall(const Span& mine, const Comm& control) {
  if (!GlobalClock::given()) return control.longest(mine.end - mine.start);
  double extremes[] = {mine.end, -mine.start};
  control.longest_each(extremes, 2);
  return extremes[0] + extremes[1];
}

Check summed(const Check& mine, const Comm& control) {
  std::uint64_t counts[] = {mine.bytes, mine.errors};
  control.sum_each(counts, 2);
  Check all{counts[0], counts[1], ""};
  if (all.errors == 0) return all;
  // The lowest rank with a mismatch says what it saw.
  const int teller = control.lowest(mine.errors ? control.rank : control.size);
  const bool told = control.rank == teller;
  all.first = control.joined(told ? "rank " + std::to_string(teller) + ": " + mine.first : "");
  return all;
}

int batch_for(double run_s, const ClockCost& cost) {
  if (run_s <= 0) return 1;
  const double needed = std::max(cost.overhead_s / clock_share, cost.resolution_s / step_share) / run_s;
  return static_cast<int>(std::clamp(std::ceil(needed), 1.0, static_cast<double>(largest_batch)));
}

// Repeats in blocks until the times no longer fall; chooses the batch from what it sees. Collective; rank 0
// decides.
class WarmUp {
 public:
  // `first_s`: what one run() took when nothing was warm. `most`: repetitions. `single`: of one run() each.
  WarmUp(Synchroniser& sync, const Comm& control, const ClockCost& cost, double first_s, int most,
         bool single)
      : sync_(sync), control_(control), cost_(cost), most_(most), single_(single), next_{0, 1, first_s} {}

  // `until` and `ends`: rank 0's clock. On rank 0 times() has all repetitions. A run so long that a few of
  // them take all the time there is has no warm-up but the verified one.
  void run(Workload& workload, double until, double ends) {
    double before = INFINITY;
    bool enough = false;
    for (int block = 0;; ++block) {
      watchdog::at(watchdog::warm_up, block);
      next_.count = enough ? 0 : affordable(until, ends);
      if (block == 0 && next_.count == 0) next_.batch = fitting();
      control_.broadcast(next_);
      if (next_.count == 0) return;
      if (block == 0) sync_.start(next_.run_s);
      const std::vector<double> times = sync_.repeat(workload, next_.count, next_.batch, 0);
      if (!control_.root()) continue;
      times_.insert(times_.end(), times.begin(), times.end());
      const double middle = times.empty() ? 0.0 : median(times);
      next_.run_s = middle * workload.operations();
      next_.batch = fitting();
      enough = (middle >= settled * before && block > 0) || now() >= until;
      before = middle;
    }
  }

  const std::vector<double>& times() const { return times_; }
  // On every rank, after run(): the last block's median time of one run(), and how many make a repetition.
  double run_s() const { return next_.run_s; }
  int batch() const { return next_.batch; }

 private:
  struct Block {
    int count;
    int batch;
    double run_s;
  };

  int fitting() const { return single_ ? 1 : batch_for(next_.run_s, cost_); }

  int affordable(double until, double ends) const {
    const bool whole = until - now() > next_.run_s * warm_up_block;
    const int count = whole ? warm_up_block : ends - now() > 5 * next_.run_s ? 2 : 0;
    return std::min(count, most_ - static_cast<int>(times_.size()));
  }

  Synchroniser& sync_;
  const Comm& control_;
  const ClockCost& cost_;
  const int most_;
  const bool single_;
  std::vector<double> times_;
  Block next_;
};

enum class Next { repeat, stop, give_up };

struct Decision {
  Next next = Next::stop;
  int count = 0;  // repetitions to come
};

// Rank 0's choice after each chunk, from the times so far. `each_s`: what one repetition costs with all that
// goes with it.
// `first`: the size of the first chunk. `enough`: repetitions that a case gets whose time is up.
Decision decide(Measurement& result, const StopRule& rule, double each_s, double ends, int first,
                int enough) {
  const auto done = static_cast<int>(result.times_s.size());
  if (done > 0) result.achieved = median_interval(result.times_s).relative();
  const bool precise = result.achieved && *result.achieved <= rule.precision;
  result.stop_reason = precise ? "precision" : "repetitions";
  if ((precise && done >= fewest_for_precision) || done >= rule.max_repetitions) return {};
  const double left = ends - now();
  if (left < each_s) {
    const int still = done == 0 ? 1 : each_s < rule.budget_s ? enough - done : 0;
    if (done == 0 && result.late >= most_attempts) return {Next::give_up};
    if (still > 0) return {Next::repeat, std::min(still, rule.max_repetitions - done)};
    result.stop_reason = precise ? "precision" : "budget";
    return {};
  }
  const int wanted = done == 0 ? first : static_cast<int>(done * growth) + 1;
  const int affordable = static_cast<int>(std::min(1e6, std::max(1.0, left / std::max(each_s, 1e-9))));
  return {Next::repeat, std::min({wanted, affordable, largest_chunk, rule.max_repetitions - done})};
}

}  // namespace

Measurement measure(const WorkloadInfo& info, const Values& values, const Place& place, const Comm& control,
                    GlobalClock& clock, const ClockCost& clock_cost, const StopRule& rule, double started) {
  const double ends = started + rule.budget_s;
  const std::unique_ptr<Workload> workload = set_up(info, values, place, control);
  Measurement result;
  result.bytes_moved = workload->bytes_moved();
  const std::optional<double> computing_s = longest_computing(*workload, control);
  if (computing_s) refuse_endless(*computing_s, workload->in_a_row(), rule);
  Check check;
  const double first_s = overall(verified_run(*workload, seed_before, check), control);

  // Windows need an estimate of the operation's time, which barriers can give.
  const Synchroniser::Kind kind = Synchroniser::kind_of(values);
  const bool synchronised = kind != Synchroniser::Kind::none;
  const bool single = by_global_clock(info.timing);
  Synchroniser rough(synchronised ? Synchroniser::Kind::barrier : kind, info, control, clock);
  const bool warm = computing_s && *computing_s >= warm_by_itself_s;
  WarmUp warm_up(rough, control, clock_cost, first_s, warm ? 0 : rule.most_warm_up, single);
  warm_up.run(*workload, now() + warm_up_share * std::max(0.0, ends - now()), ends);
  result.warmup_s = warm_up.times();
  const int runs = std::max({warm_up.batch(), Synchroniser::least_batch(kind), workload->in_a_row()});
  result.batch = static_cast<int>(std::lround(runs * workload->operations()));

  refuse_too_many(warm_up.run_s(), workload->in_a_row(), rule, started, control);
  Synchroniser sync(kind, info, control, clock);
  sync.start(warm_up.run_s() * runs);
  double each_s = warm_up.run_s() * runs;
  // A time that was only reckoned up from fewer runs is first looked at once.
  const int first = runs > warm_up.batch() && each_s > long_repetition_s ? 1 : first_chunk;
  const int enough = (fewest + workload->in_a_row() - 1) / workload->in_a_row();
  for (;;) {
    watchdog::at(watchdog::decision, static_cast<long>(result.times_s.size()));
    Decision decision = control.root() ? decide(result, rule, each_s, ends, first, enough) : Decision{};
    control.broadcast(decision);
    if (decision.next == Next::give_up)
      throw Refusal(
          "the ranks cannot meet at one moment of the clock (they share cores, or the clocks drift); use "
          "sync=barrier");
    if (decision.next == Next::stop) break;
    const double began = now();
    const std::vector<double> times =
        sync.repeat(*workload, decision.count, runs, static_cast<long>(result.times_s.size()));
    each_s = (now() - began) / decision.count;
    result.late = sync.late();
    result.times_s.insert(result.times_s.end(), times.begin(), times.end());
  }
  if (sync.needs_clock()) result.clock_error_s = sync.residual();

  workload->fill(seed_after);
  verified_run(*workload, seed_after, check);
  result.verified = summed(check, control);
  Report report = record_report(*workload, info.metrics, control);
  result.metrics = std::move(report.metrics);
  result.metrics.insert(result.metrics.end(), sync.metrics().begin(), sync.metrics().end());
  result.labels = std::move(report.labels);
  return result;
}

}  // namespace hockney
