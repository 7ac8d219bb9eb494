// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "comm/comm.hpp"
#include "comm/global_clock.hpp"
#include "measure/stopping.hpp"
#include "measure/synchronise.hpp"
#include "measure/workload.hpp"

namespace hockney {

// A period within a launch in which one case was measured.
struct Visit {
  double started_s;  // date, in seconds since 1970
  double seconds;    // set-up, warm-up, repetitions and verification
  int repetitions;   // rank 0 only
  long preemptions;  // rank 0 only: how often the system took a rank's core away
};

struct Measurement {
  std::vector<double> times_s;   // one operation each, rank 0 only
  std::vector<Visit> visits;     // their repetitions follow one another in times_s
  std::vector<double> warmup_s;  // before the times settled in the first visit, rank 0 only
  int batch = 1;                 // operations between two readings of the clock
  const char* stop_reason = "repetitions";
  std::optional<double> achieved_precision;
  std::optional<double> clock_error_s;  // on rank 0: maximum over the ranks and visits
  long late_count = 0;
  std::uint64_t bytes_moved = 0;
  // On rank 0: values combined over the ranks as each metric declares. Values per record are from the last
  // visit.
  std::vector<MetricSeries> metrics;
  std::map<std::string, std::string> labels;
  Check verified;  // summed over the ranks; `first`, on rank 0, from the lowest rank with a mismatch
  // Summed over the ranks: verified runs, out of all runs except those of the warm-up.
  std::uint64_t verified_runs = 0;
  std::uint64_t runs = 0;
  double verifying_s = 0;  // total time of verification, on the rank where it took longest; rank 0 only
};

// The limit of a visit: it ends at `deadline`, by rank 0's clock, or after `max_repetitions`. `only`: the
// case has no other visit, and stops once it is precise. After `launch_deadline`, a visit only completes the
// required repetitions; it does not exceed its time to warm up.
struct VisitLimit {
  double deadline;
  int max_repetitions;
  bool only;
  double launch_deadline = std::numeric_limits<double>::infinity();
};

struct Span {
  double start;
  double end;
};

// One case in one launch, measured in one or more visits. Between visits it retains results, but no buffers,
// because other cases run then. All calls are collective.
class CaseRun {
 public:
  // `rule.budget_s` is the time for all visits of the case. Only rank 0's `clock_cost` is used.
  CaseRun(const WorkloadInfo& info, const Values& values, const StopRule& rule, const Place& place,
          const Comm& control, const ClockCost& clock_cost, GlobalClock& clock)
      : info_(info),
        values_(values),
        rule_(rule),
        place_(place),
        control_(control),
        clock_cost_(clock_cost),
        clock_(clock),
        kind_(Synchroniser::kind_of(values)) {}

  // Sets up the workload, verifies one run, warms up and repeats. The first visit also determines the batch,
  // and verifies another run at the end. If verification is fast enough, the last repetition of every chunk
  // is verified too. On failure, all ranks throw the same error: OutOfMemory if a rank lacks memory,
  // InvalidCase if the ranks cannot meet a window, BrokenWorkload if the metrics differ from those that
  // `info` declares.
  void visit(const VisitLimit& limit);

  // On rank 0: the cost of a repetition in the last visit, including all overhead.
  double repetition_s() const { return repetition_s_; }
  // On rank 0: the results so far.
  const Measurement& result() const { return result_; }
  // On rank 0: relative half-width of the 95% interval of the median, from the medians of the visits or,
  // after one visit, from its repetitions.
  std::optional<double> achieved_precision() const;

  // Sums the verification counts of several cases over the ranks, after their last visits. Collective.
  // Without this call, finish() sums those of one case. Entries are null for cases in which this rank did not
  // take part.
  static void sum_verified(const std::vector<CaseRun*>& runs, const Comm& control);

  // Completes the measurement; called once, after the last visit. `reason` states why there are no more
  // visits; if it is null, the last visit's reason is used.
  Measurement finish(const char* reason = nullptr);

 private:
  void repeat(Workload& workload, Synchroniser& sync, const VisitLimit& limit, int first_chunk);
  void keep(std::vector<MetricSeries>& series);
  std::unique_ptr<Workload> set_up();
  bool single_run(const Workload& workload) const;
  bool warms_in_series() const;
  Span verified_run(Workload& workload);
  void verify_another_run(Workload& workload);
  bool can_afford_verification(const Workload& workload, const VisitLimit& limit) const;
  void verify_repetition(Workload& workload, double chunk_s);
  // Returns the time taken, in seconds.
  double verify(Workload& workload);
  void count(const Check& check);
  const Payload& new_payload();
  std::size_t initial_verified_bytes() const;
  void set_sums(const std::uint64_t* counts, double seconds);

  const WorkloadInfo& info_;
  const Values values_;
  const StopRule rule_;
  const Place place_;
  const Comm& control_;
  const ClockCost clock_cost_;
  GlobalClock& clock_;
  const Synchroniser::Kind kind_;
  Measurement result_;
  Check check_;
  std::uint64_t verified_runs_ = 0;
  std::uint64_t run_count_ = 0;
  Payload payload_{.seed = 0x5EED};
  double visit_start_s_ = 0;
  // Time spent on verification on this rank, in seconds: to write this visit's payload and check its first
  // run; to check the last verified repetition; and in total.
  double fill_s_ = 0;
  double first_check_s_ = 0;
  double check_s_ = 0;
  double verifying_s_ = 0;
  bool can_afford_verification_ = false;
  bool summed_ = false;
  Report report_;
  std::vector<MetricSeries> series_;
  std::vector<double> medians_s_;  // one per visit
  int runs_ = 0;                   // runs per repetition; 0 before the first visit
  std::optional<double> computing_s_;
  double run_s_ = 0;
  double repetition_s_ = 0;
  // On rank 0: seconds in which a series starts and ends, if only its operations are of interest.
  double series_s_ = 0;
};

}  // namespace hockney
