// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Workloads that are prepared for each run, and verify every run themselves; run under mpiexec with the tests
// of mpi_measure.cpp.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "measured.hpp"

namespace {

using namespace checks;

int unprepared = 0;
std::vector<long> followed;

// Takes much less time than two readings of the clock, and finds an error in every run.
class Prepared final : public Workload {
 public:
  void prepare(int count) override { fresh_ = count == 1; }
  bool prepared_each_time() const override { return true; }
  void repetitions_follow(long done) override { followed.push_back(done); }
  void run() override {
    if (!std::exchange(fresh_, false)) ++unprepared;
    checks_.push_back({8, 1, "every run"});
  }
  Check verify(const Payload&) override {
    Check all;
    for (const Check& check : take_checks()) all += check;
    return all;
  }
  std::vector<Check> take_checks() override { return std::exchange(checks_, {}); }

 private:
  bool fresh_ = false;
  std::vector<Check> checks_;
};

constexpr Parameter prepared_parameters[] = {
    {"sync", Kind::choice, "", "barrier", 0, 0, "barrier|window", ""}};
constexpr WorkloadInfo prepared{
    .name = "prepared",
    .parameters = prepared_parameters,
    .make = [](const Place&, const Values&) -> std::unique_ptr<Workload> {
      return std::make_unique<Prepared>();
    },
};

TEST(Prepared, RunsAreTimedOneByOneAndAllVerified) {
  unprepared = 0;
  const Measurement result = measured(
      prepared, "barrier", {.precision = -1, .budget_s = 300, .max_repetitions = 9, .max_warm_up = 16});
  EXPECT_EQ(unprepared, 0);
  EXPECT_EQ(result.batch, 1);
  EXPECT_EQ(result.verified_runs, result.runs);
  EXPECT_EQ(result.verified.bytes, 8 * result.verified.errors);
  if (!control().root()) return;
  EXPECT_EQ(result.times_s.size(), 9u);
  // The runs of the warm-up are not counted, but their errors are.
  EXPECT_GT(result.warmup_s.size(), 0u);
  const std::size_t warm = result.warmup_s.size() * static_cast<std::size_t>(control().size);
  EXPECT_EQ(result.verified.errors, result.runs + warm);
}

TEST(Prepared, EveryRankGetsTheNumberOfRepetitionsBeforeEachChunkAlsoInALaterVisit) {
  followed.clear();
  const Comm& comm = control();
  Arena arena(1);
  GlobalClock clock;
  const StopRule rule{.precision = -1, .budget_s = 300, .max_repetitions = 40, .max_warm_up = 16};
  const Values values(std::map<std::string, std::string>{{"sync", "barrier"}});
  CaseRun run(prepared, values, rule, {comm, arena}, comm, {3e-8, 1e-9}, clock);
  const double ends = now() + 300;
  run.visit({ends, 32, false});
  run.visit({ends, 7, false});
  run.finish();
  // A first chunk of 30, and the rest.
  EXPECT_EQ(followed, (std::vector<long>{0, 30, 32}));
}

TEST(Prepared, TheOnlyRepetitionWithoutAWarmUpIsTheOnlyRun) {
  unprepared = 0;
  const Measurement result = measured(
      prepared, "barrier", {.precision = -1, .budget_s = 300, .max_repetitions = 1, .max_warm_up = 0});
  EXPECT_EQ(unprepared, 0);
  EXPECT_EQ(result.verified_runs, result.runs);
  if (!control().root()) return;
  EXPECT_EQ(result.times_s.size(), 1u);
  EXPECT_EQ(result.runs, static_cast<std::uint64_t>(control().size));
  EXPECT_EQ(result.verified.errors, result.runs);
}

}  // namespace
