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
  // `alone` is Started.
  Overlapped(const Place& place, const Values& values, std::unique_ptr<Workload> alone,
             Timing timing = Timing::longest)
      : comm_(place.comm),
        arena_(place.arena),
        timing_(timing),
        factor_(values.real("computing")),
        duration_s_(values.real("duration")),
        tests_(values.integer("tests")),
        meeting_(values.word("sync") == "barrier"),
        alone_(std::move(alone)),
        started_(dynamic_cast<Started&>(*alone_)),
        requests_(static_cast<std::size_t>(started_.requests()), MPI_REQUEST_NULL) {}

  void prepare(int count) override {
    if (work_) {
      work_->recheck();
    } else {
      pure_s_ = pure_time();
      work_.emplace(duration_s_ > 0 ? duration_s_ : factor_ * pure_s_, tests_);
      // The runs until now have brought the payload of the run to come.
      alone_->fill(payload_);
    }
    if (meeting_) comm_.barrier();  // a rank that is done must not compute while others still communicate
    if (started_.computes()) work_->run_alone(count);
    alone_->prepare(count);
    ended_ = never;
  }

  // The runs of a batch share the reading between them, so that the phases add up to the whole batch.
  void run() override {
    const double began = ended_ == never ? now() : ended_;
    started_.start(requests_.data());
    double time = now();
    spent_.posting_s += time - began;
    if (started_.computes()) time = work_->run(time, spent_, [this] { test(); });
    wait();
    ended_ = now();
    spent_.waiting_s += ended_ - time;
    ++runs_;
  }

  void fill(const Payload& payload) override {
    payload_ = payload;
    alone_->fill(payload);
  }
  // With the computation alone.
  std::optional<double> computing_s() const override {
    return duration_s_ > 0 ? std::optional(2 * duration_s_) : std::nullopt;
  }
  Check verify(const Payload& payload) override { return alone_->verify(payload); }
  bool keeps_payload() const override { return alone_->keeps_payload(); }
  std::uint64_t bytes_moved() const override { return alone_->bytes_moved(); }

  void sample(MetricValues& values) override {
    const double runs = std::max(1.0, static_cast<double>(runs_));
    const double cpu_s = work_ ? work_->cpu_s(runs) : 0;
    const double shorter_s = std::min(pure_s_, cpu_s);
    const double apart_s = pure_s_ + cpu_s;
    const double total_s = spent_.total_s() / runs;
    const double hidden_s = std::clamp(apart_s - total_s, 0.0, shorter_s);
    values.set("pure", pure_s_);
    values.set("ratio", apart_s > 0 ? total_s / apart_s : 1);
    values.set("overlap", shorter_s > 0 ? 100 * hidden_s / shorter_s : 0);
    values.set("hidden", hidden_s);
    if (work_) work_->sample(values, spent_, runs);
    spent_ = {};
    runs_ = 0;
  }

  void report(MetricValues& values) override { work_->report(values); }

 private:
  static constexpr double never = -1;
  static constexpr int least_samples = 5;
  static constexpr int most_samples = 31;
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

  // In the median of several runs after a barrier; the same on every rank.
  double pure_time() {
    find_announcement();
    timed();  // the first run may set up connections
    double once_s = timed();
    over_ranks(&once_s, 1);
    comm_.broadcast(once_s);
    const double affordable = once_s > 0 ? sampling_s / once_s : most_samples;
    std::vector<double> times_s(static_cast<std::size_t>(
        std::clamp(affordable, static_cast<double>(least_samples), static_cast<double>(most_samples))));
    for (double& time_s : times_s) time_s = timed();
    over_ranks(times_s.data(), static_cast<int>(times_s.size()));
    double pure_s = median(times_s);
    comm_.broadcast(pure_s);
    return pure_s;
  }

  // On rank 0: the longest of the ranks' times, or its own.
  void over_ranks(double* times_s, int count) {
    if (timing_ == Timing::longest) comm_.longest_each(times_s, count);
  }

  double timed() {
    alone_->prepare(1);
    arena_.renew(1);
    start_together();
    const double began = now();
    started_.start(requests_.data());
    wait();
    return now() - began;
  }

  // Without noise, ranks leave a barrier as far apart as they entered it; but such machines have one global
  // clock.
  void start_together() {
    if (!GlobalClock::given()) {
      comm_.barrier();
      return;
    }
    double moment = comm_.longest(now()) + announcement_s_;
    comm_.broadcast(moment);
    wait_until(moment);
  }
  void find_announcement() {
    if (!GlobalClock::given()) return;
    double began = comm_.longest(now());
    comm_.broadcast(began);
    announcement_s_ = 2 * comm_.longest(now() - began);
  }

  const Comm& comm_;
  Arena& arena_;
  const Timing timing_;
  const double factor_;
  const double duration_s_;  // 0: by the factor
  const std::int64_t tests_;
  const bool meeting_;  // windows leave no time for a barrier
  const std::unique_ptr<Workload> alone_;
  Started& started_;
  std::vector<MPI_Request> requests_;
  Payload payload_;
  double announcement_s_ = 0;  // on rank 0, if the clock is global: the longest time of a broadcast
  double pure_s_ = 0;
  std::optional<Interleaved> work_;
  double ended_ = never;  // the last run of this batch
  Spent spent_;           // since the last sample
  long runs_ = 0;
};

// Overlaps the workload of this group with the name `operation`.
inline std::unique_ptr<Workload> make_overlapped(const Place& place, const Values& values,
                                                 const std::string& operation) {
  for (const WorkloadInfo* info : all_workloads())
    if (info->name == operation)
      return std::make_unique<Overlapped>(place, values, info->make(place, values));
  throw InvalidCase("there is no operation " + operation);
}

// The one that a parameter `operation` names.
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
  return meanwhile_metrics(
      timed, {of_timed(timed, "overlap", "%",
                       "hidden part of the communication or of the computation, whichever is shorter"),
              of_timed(timed, "hidden", "s", "the time that overlap hides"),
              of_timed(timed, "pure", "s",
                       "the communication without computation, measured in each visit: t_pure of IMB"),
              of_timed(timed, "ratio", "",
                       "of the time to pure + cpu, one after the other: below 1, starting early pays")});
}

inline constexpr auto overlap_metrics = metrics_of_overlap(OverRanks::slowest);

inline constexpr Parameter operation_bytes = parameters::bytes(
    "bytes, as in the workload of the operation; a multiple of 8 for reductions", "operation");

// The descriptor of a workload that overlaps the operation which a parameter names.
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
