// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/compute.hpp"
#include "base/statistics.hpp"
#include "comm/global_clock.hpp"
#include "measure/started.hpp"

namespace hockney {

// Computation between the call that starts a collective and MPI_Wait. In each visit, the collective is first
// measured by itself (its pure time); then each run computes for `computing` times as long. From the three
// times,
//
//   overlap = max(0, min(1, (t_pure + t_computing - t_total) / min(t_pure, t_computing)))
//
// is the hidden fraction of the shorter of the two, as the Intel MPI Benchmarks define it. The OSU benchmarks
// divide by t_pure, which gives the same result unless the computation is shorter. All three times are maxima
// over the ranks.
class Overlapped final : public Workload {
 public:
  // The collective of this group with the name `operation`.
  Overlapped(const Place& place, const Values& values, const std::string& operation)
      : comm_(place.comm),
        factor_(values.real("computing")),
        tests_(values.integer("tests")),
        alone_(made(place, values, operation)),
        started_(dynamic_cast<Started&>(*alone_)) {}

  void prepare(int count) override {
    if (part_) {
      part_->recheck();
    } else {
      pure_s_ = pure_time();
      part_.emplace(factor_ * pure_s_ / static_cast<double>(tests_ + 1));
      // The runs until now have brought the payload of the run to come.
      alone_->fill(payload_);
    }
    alone_->prepare(count);
  }

  void run() override {
    const double began = now();
    MPI_Request request = MPI_REQUEST_NULL;
    started_.start(&request);
    part_->run();
    for (std::int64_t i = 0; i < tests_; ++i) {
      int done = 0;
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      part_->run();
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    total_s_ += now() - began;
    ++runs_;
  }

  void fill(const Payload& payload) override {
    payload_ = payload;
    alone_->fill(payload);
  }
  Check verify(const Payload& payload) override { return alone_->verify(payload); }
  bool keeps_payload() const override { return alone_->keeps_payload(); }
  std::uint64_t bytes_moved() const override { return alone_->bytes_moved(); }

  // The slowest rank has the smallest overlap, because all ranks use the same reference times.
  void sample(MetricValues& values) override {
    values.set("overlap", runs_ ? 100 * overlap(total_s_ / static_cast<double>(runs_)) : 0);
    total_s_ = 0;
    runs_ = 0;
  }

  void report(MetricValues& values) override {
    values.set("pure", pure_s_);
    values.set("work", work_s());
    values.set("work_error", part_->error());
    values.label("work_clock", part_->clock());
  }

 private:
  static constexpr int least_samples = 5;
  static constexpr int most_samples = 31;
  static constexpr double sampling_s = 1e-3;

  static std::unique_ptr<Workload> made(const Place& place, const Values& values,
                                        const std::string& operation) {
    for (const WorkloadInfo* info : all_workloads())
      if (info->name == operation) return info->make(place, values);
    throw InvalidCase("there is no collective " + operation);
  }

  double work_s() { return part_->preset_s() * static_cast<double>(tests_ + 1); }

  double overlap(double total_s) {
    const double shorter_s = std::min(pure_s_, work_s());
    if (shorter_s <= 0) return 0;
    return std::clamp((pure_s_ + work_s() - total_s) / shorter_s, 0.0, 1.0);
  }

  // The longest time over the ranks, in the median of several runs after a barrier; the same on every rank.
  double pure_time() {
    find_announcement();
    timed();  // the first run may set up connections
    double once_s = comm_.longest(timed());
    comm_.broadcast(once_s);
    const double affordable = once_s > 0 ? sampling_s / once_s : most_samples;
    std::vector<double> times_s(static_cast<std::size_t>(
        std::clamp(affordable, static_cast<double>(least_samples), static_cast<double>(most_samples))));
    for (double& time_s : times_s) time_s = timed();
    comm_.longest_each(times_s.data(), static_cast<int>(times_s.size()));
    double pure_s = median(times_s);
    comm_.broadcast(pure_s);
    return pure_s;
  }

  double timed() {
    alone_->prepare(1);
    start_together();
    const double began = now();
    MPI_Request request = MPI_REQUEST_NULL;
    started_.start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
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
  const double factor_;
  const std::int64_t tests_;
  const std::unique_ptr<Workload> alone_;
  Started& started_;
  Payload payload_;
  double announcement_s_ = 0;  // on rank 0, if the clock is global: the longest time of a broadcast
  double pure_s_ = 0;
  std::optional<Computing> part_;  // between two calls of MPI_Test
  double total_s_ = 0;             // since the last sample
  long runs_ = 0;
};

// The workload of a parameter `operation`, which names a collective of this group.
inline std::unique_ptr<Workload> make_overlapped(const Place& place, const Values& values) {
  return std::make_unique<Overlapped>(place, values, values.word("operation"));
}

inline constexpr Parameter computing_parameter{
    "computing", Kind::real,
    "",          "1",
    0.01,        1000,
    "",          "computation between the call and MPI_Wait, relative to the operation's own time"};

inline constexpr Parameter tests_parameter{
    "tests", Kind::integer, "", "0", 0, 1e6, "", "evenly spaced calls of MPI_Test during the computation"};

inline constexpr Metric overlap_metrics[] = {
    {.name = "overlap",
     .unit = "%",
     .over_ranks = OverRanks::min,
     .per = Per::repetition,
     .help = "hidden part of the operation or of the computation, whichever is shorter"},
    {.name = "pure",
     .unit = "s",
     .help = "time of the operation without computation, measured in the last visit"},
    {.name = "work", .unit = "s", .help = "preset processor time of the computation"},
    {.name = "work_error", .help = "relative error of the consumed processor time, in the median repetition"},
};

}  // namespace hockney
