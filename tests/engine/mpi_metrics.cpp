// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Metrics that a workload declares and reports; run under mpiexec with the tests of mpi_measure.cpp.
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "measured.hpp"

namespace {

using namespace checks;

// A workload with custom metrics: everything about them is in its descriptor and its class.
struct Reported {
  bool forgets = false;
  bool invents = false;
};
constexpr Metric own_metrics[] = {
    {.name = "rank", .over_ranks = OverRanks::each, .help = "per record, each rank's"},
    {.name = "least", .unit = "B", .over_ranks = OverRanks::min},
    {.name = "average", .over_ranks = OverRanks::mean},
    {.name = "runs", .over_ranks = OverRanks::root, .per = Per::repetition},
    {.name = "total", .over_ranks = OverRanks::sum, .per = Per::repetition},
    {.name = "spread", .over_ranks = OverRanks::each, .per = Per::repetition},
    {.name = "waiting", .unit = "s", .per = Per::repetition, .phase = true},
    {.name = "steps", .per = Per::superstep},
    {.name = "rest", .unit = "s", .over_ranks = OverRanks::slowest, .per = Per::repetition, .phase = true},
    {.name = "slowest_rank", .over_ranks = OverRanks::slowest, .per = Per::repetition},
    {.name = "events", .over_ranks = OverRanks::each, .per = Per::event},
};

class Reporter final : public Workload {
 public:
  Reporter(const Comm& comm, Reported kind) : comm_(comm), kind_(kind) {}
  void run() override {
    ++runs_;
    waiting_s_ += 1e-3 * (comm_.rank + 1);
  }
  int back_to_back() const override { return 3; }
  double operations() const override { return 2; }
  void report(MetricValues& values) override {
    values.set("rank", comm_.rank);
    values.set("least", comm_.rank + 5);
    if (!kind_.forgets || comm_.rank != comm_.size - 1) values.set("average", comm_.rank);
    const double steps[] = {1.0 + comm_.rank, 2.0 * comm_.size - comm_.rank, 7.0};
    values.set_each("steps", steps);
    values.label("colour", "red");
  }
  void sample(MetricValues& values) override {
    values.set("runs", runs_);
    values.set("total", 1);
    values.set("spread", 10 * ++samples_ + comm_.rank);
    values.set("waiting", waiting_s_);
    // In every second sample, the phases of rank 0 add up to more than those of the last rank.
    values.set("rest", samples_ % 2 == 0 && comm_.rank == 0 ? 2 * waiting_s_ * comm_.size : 0);
    values.set("slowest_rank", comm_.rank);
    // Rank r has r events in one sample and r + 1 in the next one.
    values.set_each("events",
                    std::vector<double>(static_cast<std::size_t>(comm_.rank + samples_ % 2), samples_));
    if (kind_.invents && comm_.rank == 0) values.set("surprise", 1);
    runs_ = 0;
    waiting_s_ = 0;
  }

 private:
  const Comm& comm_;
  const Reported kind_;
  int runs_ = 0;
  int samples_ = 0;
  double waiting_s_ = 0;
};

constexpr Parameter every_sync[] = {{"sync", Kind::choice, "", "barrier", 0, 0, "barrier|window|loop", ""}};

template <bool forgets, bool invents>
constexpr WorkloadInfo reporter{
    .name = "reporter",
    .parameters = every_sync,
    .metrics = own_metrics,
    .make = [](const Place& place, const Values&) -> std::unique_ptr<Workload> {
      return std::make_unique<Reporter>(place.comm, Reported{forgets, invents});
    },
};

const MetricSeries& series_of(const Measurement& result, const std::string& name) {
  for (const MetricSeries& series : result.metrics)
    if (name == series.metric->name) return series;
  throw std::out_of_range(name);
}

TEST(Metrics, AreCombinedAsTheyAreDeclared) {
  const int size = control().size;
  const bool crowded = static_cast<int>(std::thread::hardware_concurrency()) < size;
  for (const std::string sync : {"barrier", "loop", "window"}) {
    if (sync == "window" && crowded) continue;  // the ranks may never meet
    const Measurement result =
        measured(reporter<false, false>, sync.c_str(),
                 {.precision = -1, .budget_s = 300, .max_repetitions = 7, .max_warm_up = 16});
    EXPECT_EQ(result.metrics.size(), 11u);
    if (!control().root()) continue;
    EXPECT_EQ(result.labels.at("colour"), "red");
    const std::size_t repetitions = result.times_s.size();
    ASSERT_GT(repetitions, 0u);
    std::vector<double> ranks;
    for (int rank = 0; rank < size; ++rank) ranks.push_back(rank);
    EXPECT_EQ(series_of(result, "rank").values, ranks);
    EXPECT_EQ(series_of(result, "least").values, std::vector<double>{5});
    EXPECT_EQ(series_of(result, "average").values, std::vector<double>{(size - 1) / 2.0});
    EXPECT_EQ(series_of(result, "steps").values, (std::vector<double>{1.0 * size, 2.0 * size, 7}));
    EXPECT_EQ(series_of(result, "total").values, std::vector<double>(repetitions, size));
    // One repetition, without earlier runs: `batch` counts operations.
    EXPECT_EQ(series_of(result, "runs").values, std::vector<double>(repetitions, result.batch / 2.0));
    for (const double waiting : series_of(result, "waiting").values)
      EXPECT_NEAR(waiting, 0.5e-3 * size, 1e-12);
    EXPECT_EQ(series_of(result, "waiting").values.size(), repetitions);
    const std::vector<double>& rest = series_of(result, "rest").values;
    const std::vector<double>& slowest = series_of(result, "slowest_rank").values;
    ASSERT_EQ(slowest.size(), repetitions);
    for (std::size_t i = 0; i < repetitions; ++i) EXPECT_EQ(slowest[i], rest[i] > 0 ? 0 : size - 1);
    const MetricSeries& events = series_of(result, "events");
    ASSERT_EQ(events.counts.size(), repetitions * static_cast<std::size_t>(size));
    std::size_t next = 0;
    for (std::size_t i = 0; i < events.counts.size(); ++i) {
      const double rank = static_cast<double>(i % static_cast<std::size_t>(size));
      EXPECT_TRUE(events.counts[i] == rank || events.counts[i] == rank + 1);
      const double sample = (series_of(result, "spread").values[i] - rank) / 10;
      for (int k = 0; k < events.counts[i]; ++k) EXPECT_EQ(events.values.at(next++), sample);
    }
    EXPECT_EQ(next, events.values.size());
    // The ranks vary fastest, and a dropped repetition is dropped from the metrics too.
    const std::vector<double>& spread = series_of(result, "spread").values;
    ASSERT_EQ(spread.size(), repetitions * static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < spread.size(); ++i)
      EXPECT_EQ(static_cast<int>(spread[i]) % 10, static_cast<int>(i) % size % 10);
    for (std::size_t i = 0; i < repetitions; ++i) {
      const int sample = static_cast<int>(spread[i * static_cast<std::size_t>(size)]) / 10;
      EXPECT_EQ(rest[i] > 0, sample % 2 == 0) << sample;
    }
    for (std::size_t i = static_cast<std::size_t>(size); i < spread.size(); ++i)
      EXPECT_GE(spread[i], spread[i - static_cast<std::size_t>(size)] + 10);
  }
}

TEST(Metrics, AreSampledWithoutASynchronisationToo) {
  static constexpr WorkloadInfo alone{
      .name = "alone", .metrics = own_metrics, .make = reporter<false, false>.make};
  const Comm& comm = control();
  Arena arena(count_ranks_on_host(comm));
  const Measurement result =
      Measurer({comm, arena}, comm, {3e-8, 1e-9})
          .measure(alone, Values({}),
                   {.precision = -1, .budget_s = 300, .max_repetitions = 7, .max_warm_up = 16}, now());
  if (!comm.root()) return;
  ASSERT_EQ(result.times_s.size(), 7u);
  EXPECT_EQ(series_of(result, "runs").values, std::vector<double>(7, result.batch / 2.0));
}

TEST(Metrics, ThatAreNotTheDeclaredOnesFailOnAllRanksByName) {
  const StopRule rule{.budget_s = 1, .max_repetitions = 3};
  const auto problem = [&](const WorkloadInfo& info) -> std::string {
    try {
      measured(info, "barrier", rule);
    } catch (const BrokenWorkload& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(problem(reporter<true, false>).find("'average'"), std::string::npos);
  EXPECT_NE(problem(reporter<false, true>).find("'surprise'"), std::string::npos);
}

TEST(Visits, KeepTheirRepetitionsAndMetricsApartAndInOrder) {
  const Comm& comm = control();
  Arena arena(count_ranks_on_host(comm));
  const Values values(std::map<std::string, std::string>{{"sync", "barrier"}});
  Measurer measurer({comm, arena}, comm, {3e-8, 1e-9});
  CaseRun run = measurer.begin(reporter<false, false>, values, {.budget_s = 300, .max_warm_up = 8});
  for (int count : {4, 7, 5}) run.visit({now() + 100, count, false});
  const int batch = run.result().batch;
  const Measurement result = run.finish("budget");
  ASSERT_EQ(result.visits.size(), 3u);
  EXPECT_STREQ(result.stop_reason, "budget");
  if (!comm.root()) return;
  EXPECT_EQ(result.visits[0].repetitions, 4);
  EXPECT_EQ(result.visits[1].repetitions, 7);
  EXPECT_EQ(result.visits[2].repetitions, 5);
  EXPECT_EQ(result.times_s.size(), 16u);
  EXPECT_LE(result.visits[0].started_s, result.visits[1].started_s);
  for (const MetricSeries& series : result.metrics) {
    if (series.metric->per == Per::event) {
      EXPECT_EQ(series.counts.size(), 16 * static_cast<std::size_t>(comm.size));
      continue;
    }
    const std::size_t ranks =
        series.metric->over_ranks == OverRanks::each ? static_cast<std::size_t>(comm.size) : 1;
    const std::size_t entries = series.metric->per == Per::repetition  ? 16
                                : series.metric->per == Per::superstep ? 3
                                                                       : 1;
    EXPECT_EQ(series.values.size(), entries * ranks) << series.metric->name;
    if (std::string(series.metric->name) == "runs")
      for (const double runs : series.values) EXPECT_EQ(runs * 2, batch) << "the same batch in all visits";
  }
}

}  // namespace
