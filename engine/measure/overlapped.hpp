// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/statistics.hpp"
#include "comm/global_clock.hpp"
#include "measure/interleaved.hpp"
#include "measure/started.hpp"

namespace hockney {

// Computation between the calls that start an operation and MPI_Wait, with evenly spaced calls of MPI_Test:
// the post-work-wait method of Lawry, Wilson, Maccabe and Brightwell, "COMB: A Portable Benchmark Suite for
// Assessing MPI Overlap" (2002).
//
// In each visit, the operation is first measured by itself: t_pure. The computation is `computing` times as
// long, or takes `duration`: a fixed number of steps of a loop, chosen by their processor time, so that its
// wall time shows whatever slows it. Just before each repetition it is made without the operation, with the
// same readings of the clock, so that both members of a pair meet the same frequency of the processor: t_cpu,
// of which t_alone in the steps. The repetition is divided by readings of the clock into posting, computing,
// testing and waiting; their sum is t_total.
//
//   overlap      = max(0, min(1, (t_pure + t_cpu - t_total) / min(t_pure, t_cpu)))
//   hidden       = overlap min(t_pure, t_cpu)
//   ratio        = t_total / (t_pure + t_cpu)
//   availability = t_cpu / t_total
//   stolen       = t_computing / t_alone - 1
//
// Overlap is the hidden fraction of the shorter of the two, as the Intel MPI Benchmarks define it (IMB-NBC).
// The OSU benchmarks divide by t_pure, which gives the same result unless the computation is shorter.
// Availability is COMB's: time(work without messaging) / time(work plus MPI calls while messaging). Stolen is
// the part of this that no MPI call shows: interrupts, copies by the kernel, MPI's progress thread. What a
// progress thread takes while nothing is sent slows both members of a pair; it shows in `step`, between
// launches with and without such a thread.
//
// t_pure is the maximum over the ranks, all other times are those of the slowest rank of a repetition. Or, if
// rank 0 is timed, all are its own.
class Overlapped final : public Workload {
 public:
  // `standalone` must be a NonblockingOperation.
  Overlapped(const Place& place, const Values& values, std::unique_ptr<Workload> standalone,
             Timing timing = Timing::longest)
      : comm_(place.comm),
        arena_(place.arena),
        timing_(timing),
        factor_(values.real("computing")),
        duration_s_(values.real("duration")),
        tests_(values.integer("tests")),
        uses_barrier_(values.word("sync") == "barrier"),
        standalone_(std::move(standalone)),
        started_(dynamic_cast<NonblockingOperation&>(*standalone_)),
        requests_(static_cast<std::size_t>(started_.requests()), MPI_REQUEST_NULL) {}

  void prepare(int count) override {
    if (work_) {
      work_->recheck();
    } else {
      pure_s_ = measure_pure_time();
      work_.emplace(duration_s_ > 0 ? duration_s_ : factor_ * pure_s_, tests_);
      // The previous runs have delivered the payload of the next run.
      standalone_->fill(payload_);
    }
    if (uses_barrier_)
      comm_.barrier();  // a rank that is done must not compute while others still communicate
    if (started_.computes()) work_->run_alone(count);
    standalone_->prepare(count);
    batch_end_s_ = never;
  }

  // The runs of a batch share the readings between them, so that the phases add up to the whole batch.
  void run() override {
    const double began = batch_end_s_ == never ? now() : batch_end_s_;
    started_.start(requests_.data());
    double time = now();
    phase_times_.posting_s += time - began;
    if (started_.computes()) time = work_->run(time, phase_times_, [this] { test(); });
    wait();
    batch_end_s_ = now();
    phase_times_.waiting_s += batch_end_s_ - time;
    ++runs_;
  }

  void fill(const Payload& payload) override {
    payload_ = payload;
    standalone_->fill(payload);
  }
  // Includes the computation without the operation.
  std::optional<double> computing_s() const override {
    return duration_s_ > 0 ? std::optional(2 * duration_s_) : std::nullopt;
  }
  Check verify(const Payload& payload) override { return standalone_->verify(payload); }
  bool keeps_payload() const override { return standalone_->keeps_payload(); }
  std::uint64_t bytes_moved() const override { return standalone_->bytes_moved(); }

  void sample(MetricValues& values) override {
    const double runs = std::max(1.0, static_cast<double>(runs_));
    const double cpu_s = work_ ? work_->cpu_s(runs) : 0;
    const double shorter_time_s = std::min(pure_s_, cpu_s);
    const double separate_s = pure_s_ + cpu_s;
    const double total_s = phase_times_.total_s() / runs;
    const double hidden_s = std::clamp(separate_s - total_s, 0.0, shorter_time_s);
    values.set("pure", pure_s_);
    values.set("ratio", separate_s > 0 ? total_s / separate_s : 1);
    values.set("overlap", shorter_time_s > 0 ? 100 * hidden_s / shorter_time_s : 0);
    values.set("hidden", hidden_s);
    if (work_) work_->sample(values, phase_times_, runs);
    phase_times_ = {};
    runs_ = 0;
  }

  void report(MetricValues& values) override { work_->report(values); }

 private:
  static constexpr double never = -1;
  static constexpr int min_samples = 5;
  static constexpr int max_samples = 31;
  static constexpr double sampling_s = 1e-3;

  void test() {
    int done = 0;
    if (requests_.size() == 1)
      MPI_Test(requests_.data(), &done, MPI_STATUS_IGNORE);
    else
      MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
  }
  void wait() {
    if (requests_.size() == 1)
      MPI_Wait(requests_.data(), MPI_STATUS_IGNORE);
    else
      MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  // Measures the operation by itself: the median of several runs after a barrier, the same on every rank.
  double measure_pure_time() {
    find_announcement();
    timed();  // the first run may set up connections
    double estimate_s = timed();
    reduce_over_ranks(&estimate_s, 1);
    comm_.broadcast(estimate_s);
    const double affordable_repetitions = estimate_s > 0 ? sampling_s / estimate_s : max_samples;
    std::vector<double> times_s(static_cast<std::size_t>(std::clamp(
        affordable_repetitions, static_cast<double>(min_samples), static_cast<double>(max_samples))));
    for (double& time_s : times_s) time_s = timed();
    reduce_over_ranks(times_s.data(), static_cast<int>(times_s.size()));
    double pure_s = median(times_s);
    comm_.broadcast(pure_s);
    return pure_s;
  }

  // Replaces times with the maximum over the ranks on rank 0, unless rank 0's own times are used.
  void reduce_over_ranks(double* times_s, int count) {
    if (timing_ == Timing::longest) comm_.reduce_max(times_s, count);
  }

  double timed() {
    standalone_->prepare(1);
    arena_.renew(1);
    synchronise_start();
    const double began = now();
    started_.start(requests_.data());
    wait();
    return now() - began;
  }

  // Without noise, ranks leave a barrier as far apart as they entered it; but machines without noise have a
  // global clock.
  void synchronise_start() {
    if (!GlobalClock::is_global()) {
      comm_.barrier();
      return;
    }
    double moment = comm_.reduce_max(now()) + announcement_s_;
    comm_.broadcast(moment);
    wait_until(moment);
  }
  void find_announcement() {
    if (!GlobalClock::is_global()) return;
    double began = comm_.reduce_max(now());
    comm_.broadcast(began);
    announcement_s_ = 2 * comm_.reduce_max(now() - began);
  }

  const Comm& comm_;
  Arena& arena_;
  const Timing timing_;
  const double factor_;
  const double duration_s_;  // 0: determined by the factor
  const std::int64_t tests_;
  const bool uses_barrier_;  // windows leave no time for a barrier
  const std::unique_ptr<Workload> standalone_;
  NonblockingOperation& started_;
  std::vector<MPI_Request> requests_;
  Payload payload_;
  double announcement_s_ = 0;  // on rank 0, if the clock is global: maximum time of a broadcast
  double pure_s_ = 0;
  std::optional<Interleaved> work_;
  double batch_end_s_ = never;  // end of this batch's last run
  PhaseTimes phase_times_;      // since the last sample
  long runs_ = 0;
};

// Makes a workload that overlaps the workload named `operation` of this group.
inline std::unique_ptr<Workload> make_overlapped(const Place& place, const Values& values,
                                                 const std::string& operation) {
  for (const WorkloadInfo* info : all_workloads())
    if (info->name == operation)
      return std::make_unique<Overlapped>(place, values, info->make(place, values));
  throw InvalidCase("there is no operation " + operation);
}

// Makes a workload that overlaps the workload named by the parameter `operation`.
inline std::unique_ptr<Workload> make_overlapped_operation(const Place& place, const Values& values) {
  return make_overlapped(place, values, values.word("operation"));
}

inline constexpr Parameter computing_parameter{
    "computing", Kind::real,
    "",          "1",
    0.01,        1000,
    "",          "computation between the call and MPI_Wait, relative to the operation's own time"};

inline constexpr Parameter duration_parameter{
    "duration", Kind::real,
    "s",        "0",
    0,          1e5,
    "",         "processor time of this computation; 0: computing times the operation's own time"};

inline constexpr Parameter tests_parameter{
    "tests", Kind::integer, "", "0", 0, 1e6, "", "evenly spaced calls of MPI_Test during the computation"};

constexpr auto metrics_of_overlap(OverRanks timed) {
  return concurrent_metrics(
      timed,
      {timed_rank_metric(timed, "overlap", "%",
                         "hidden part of the communication or of the computation, whichever is shorter"),
       timed_rank_metric(timed, "hidden", "s", "the time that overlap hides"),
       timed_rank_metric(timed, "pure", "s",
                         "the communication without computation, measured in each visit: t_pure of IMB"),
       timed_rank_metric(timed, "ratio", "",
                         "of the time to pure + cpu, one after the other: below 1, starting early pays")});
}

inline constexpr auto overlap_metrics = metrics_of_overlap(OverRanks::slowest);

inline constexpr Parameter operation_bytes = parameters::bytes(
    "bytes, as in the workload of the operation; a multiple of 8 for reductions", "operation");

// Descriptor of a workload that overlaps the operation named by a parameter.
constexpr WorkloadInfo overlap_info(const char* name, const char* help,
                                    std::span<const Parameter> parameters) {
  return {.name = name,
          .role = "overlap",
          .operation = name,
          .size = "bytes",
          .help = help,
          .time = "the total, the maximum over the ranks",
          .parameters = parameters,
          .metrics = overlap_metrics,
          .make = make_overlapped_operation};
}

}  // namespace hockney
