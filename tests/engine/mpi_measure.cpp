// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Tests that need ranks: run under mpiexec at 1 to 9 ranks, every rank runs the same tests in the same order.
#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <cstring>
#include <ctime>
#include <new>
#include <thread>

#include "base/invalid_case.hpp"
#include "measure/checking.hpp"
#include "measured.hpp"

namespace hockney::patterns {
extern const WorkloadInfo allreduce;
extern const WorkloadInfo compute;
extern const WorkloadInfo granularity;
extern const WorkloadInfo pingpong_double;
}  // namespace hockney::patterns

namespace {

using namespace checks;

// Every rank sends 64 bytes to the next; the last rank's payload loses a bit on `broken`.
class Ring final : public Workload {
 public:
  Ring(const Place& place, bool broken)
      : comm_(place.comm), broken_(broken), out_(place.arena, 64, "hot"), in_(place.arena, 64, "hot") {}
  void run() override {
    const int next = (comm_.rank + 1) % comm_.size;
    const int before = (comm_.rank + comm_.size - 1) % comm_.size;
    MPI_Sendrecv(out_.next(), 64, MPI_BYTE, next, 0, in_.next(), 64, MPI_BYTE, before, 0, comm_.handle,
                 MPI_STATUS_IGNORE);
    if (broken_ && comm_.rank == comm_.size - 1) const_cast<std::byte&>(in_.current()[17]) ^= std::byte{4};
  }
  void fill(const Payload& payload) override {
    for (std::byte& b : out_.upcoming())
      b = static_cast<std::byte>(payload.seed + static_cast<std::uint64_t>(comm_.rank));
    spoil(in_.upcoming(), payload);
  }
  Check verify(const Payload& payload) override {
    const auto before = static_cast<std::uint64_t>((comm_.rank + comm_.size - 1) % comm_.size);
    for (std::size_t i = 0; i < 64; ++i)
      if (in_.current()[i] != static_cast<std::byte>(payload.seed + before))
        return {64, 1, "byte " + std::to_string(i)};
    return {64, 0, ""};
  }
  std::uint64_t bytes_moved() const override { return 64; }

 private:
  const Comm& comm_;
  bool broken_;
  Buffer out_;
  Buffer in_;
};

constexpr Parameter parameters[] = {{"sync", Kind::choice, "", "barrier", 0, 0, "barrier|window", ""}};

template <bool broken>
constexpr WorkloadInfo ring{
    .name = "ring",
    .help = "-",
    .time = "-",
    .parameters = parameters,
    .make = [](const Place& place, const Values&) -> std::unique_ptr<Workload> {
      return std::make_unique<Ring>(place, broken);
    },
};

// Processor time of the whole process.
double processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST(Measure, FindsABrokenPayloadAndSaysWhere) {
  // Enough time to verify another run at the end.
  const Measurement result =
      measured(ring<true>, "barrier", {.precision = 1e-9, .budget_s = 3000, .max_repetitions = 200});
  EXPECT_EQ(result.verified.errors, 2u);  // before and after
  if (control().root())
    EXPECT_EQ(result.verified.first, "rank " + std::to_string(control().size - 1) + ": byte 17");
  EXPECT_EQ(result.verified.bytes, 2u * 64u * static_cast<unsigned>(control().size));
}

TEST(Measure, KeepsEveryRepetitionOnRankZero) {
  const Measurement result =
      measured(ring<false>, "barrier",
               {.precision = 1e-9, .budget_s = 300, .max_repetitions = 200, .max_warm_up = 16});
  EXPECT_EQ(result.verified.errors, 0u);
  EXPECT_EQ(result.times_s.size(), control().root() ? 200u : 0u);
  EXPECT_STREQ(result.stop_reason, "repetitions");  // including reports of ranks that do not decide
  for (const double time : result.times_s) EXPECT_GT(time, 0);
}

TEST(Measure, StopsAtTheBudget) {
  const double before = processor_time();
  // No precision is enough: on one rank all times may be the same step of the clock, an interval without
  // width.
  const Measurement result =
      measured(ring<false>, "barrier", {.precision = -1, .budget_s = 0.2, .max_repetitions = 100000000});
  // Not by the wall clock, which also counts other programs.
  EXPECT_LT(processor_time() - before, 2.0);
  if (control().root()) {
    EXPECT_STREQ(result.stop_reason, "budget");
    EXPECT_GE(result.times_s.size(), 1u);
  }
}

// A pattern that takes 2 ms on the last rank only: the collective's time is that rank's.
class Slow : public Workload {
 public:
  explicit Slow(const Comm& comm) : comm_(comm) {}
  void run() override {
    ++runs;
    if (comm_.rank == comm_.size - 1) spin(2e-3);
  }

  static inline int runs = 0;

 private:
  const Comm& comm_;
};

constexpr WorkloadInfo slow{
    .name = "slow",
    .help = "-",
    .time = "-",
    .parameters = parameters,
    .make = [](const Place& place, const Values&) -> std::unique_ptr<Workload> {
      return std::make_unique<Slow>(place.comm);
    },
};

TEST(Measure, ACollectivesTimeIsTheLongestOverTheRanks) {
  const Measurement result =
      measured(slow, "barrier", {.precision = 0.01, .budget_s = 0.3, .max_repetitions = 50});
  for (const double time : result.times_s) EXPECT_GE(time, 1.99e-3);
}

// Sends nothing; its buffers are written between repetitions.
class Written final : public Workload {
 public:
  Written(const Place& place, const Values& values)
      : outgoing_(place.arena, bytes_of(place), values.word("buffers")),
        incoming_(place.arena, bytes_of(place), values.word("buffers")) {}
  void run() override {
    outgoing_.next();
    incoming_.next();
  }

 private:
  // On rank 0 more than elsewhere, as at the root of a collective.
  static std::size_t bytes_of(const Place& place) { return place.comm.root() ? 40000 : 8; }

  Buffer outgoing_;
  IncomingBuffer incoming_;
};

constexpr WorkloadInfo written{
    .name = "written", .help = "-", .time = "-", .parameters = parameters, .make = make<Written>};

TEST(Measure, ABatchIsNoLongerThanWhatAllRanksHaveWrittenBefore) {
  const Comm& comm = control();
  Arena arena(count_ranks_on_host(comm));
  Measurer measurer({comm, arena}, comm, {1e-3, 1e-9});  // so that batches are long on any machine
  const auto batch = [&](const char* buffers, const char* sync) {
    const Values values(std::map<std::string, std::string>{{"sync", sync}, {"buffers", buffers}});
    return measurer.measure(written, values, {.budget_s = 0.2, .max_repetitions = 40}, now()).batch;
  };
  EXPECT_GT(batch("hot", "barrier"), 3);
  EXPECT_EQ(batch("written", "barrier"), 3);  // 128 KiB / 40000 on rank 0
  EXPECT_THROW(batch("written", "loop"), InvalidCase);
}

// Other cases have displaced the buffers of a visit from the caches.
TEST(Measure, AVisitWarmsUpEvenIfItsTimeIsUp) {
  const Comm& comm = control();
  Arena arena(count_ranks_on_host(comm));
  Measurer measurer({comm, arena}, comm, {3e-8, 1e-9});
  const auto warmed_up = [&](const char* buffers, double budget_s) {
    const Values values(std::map<std::string, std::string>{{"sync", "barrier"}, {"buffers", buffers}});
    CaseRun run = measurer.begin(slow, values, {.precision = -1, .budget_s = budget_s});
    run.visit({now(), 5, false});
    return run.result().warmup_s.size();
  };
  const std::size_t fewest = comm.root() ? Method::min_warm_up_runs : 0;
  EXPECT_EQ(warmed_up("hot", 1000), fewest);
  EXPECT_EQ(warmed_up("cold", 1000), 0u);
  EXPECT_EQ(warmed_up("hot", 0.01), 0u);  // its share has no time for it
}

TEST(Measure, ALaterVisitWarmsUpWhileTheLaunchHasTime) {
  const Comm& comm = control();
  Arena arena(count_ranks_on_host(comm));
  Measurer measurer({comm, arena}, comm, {3e-8, 1e-9});
  CaseRun run = measurer.begin(slow, Values(std::map<std::string, std::string>{{"sync", "barrier"}}),
                               {.precision = -1, .budget_s = 1000});
  run.visit({now(), 5, false});
  const auto runs_in = [&](double launch_ends) {
    const int before = Slow::runs;
    run.visit({now(), 5, false, launch_ends});
    return Slow::runs - before;
  };
  const int without = 1 + 5;  // verification and repetitions
  EXPECT_GE(runs_in(now() + 1000), without + Method::min_warm_up_runs);
  EXPECT_LE(runs_in(now()), without + 1);  // a disturbed visit may have time for another verification
}

// Slow repetitions in units of three, of which a visit makes four if they fit into the case's share.
class SlowCycles final : public Slow {
 public:
  using Slow::Slow;
  int cycle() const override { return 3; }
  int min_cycles() const override { return 4; }
};

constexpr WorkloadInfo slow_cycles{
    .name = "slow_cycles",
    .help = "-",
    .time = "-",
    .parameters = parameters,
    .make = [](const Place& place, const Values&) -> std::unique_ptr<Workload> {
      return std::make_unique<SlowCycles>(place.comm);
    },
};

TEST(Measure, AVisitMakesAllItsCyclesOnlyIfTheyFitIntoTheCasesShare) {
  const Comm& comm = control();
  Arena arena(count_ranks_on_host(comm));
  Measurer measurer({comm, arena}, comm, {3e-8, 1e-9});
  const auto repetitions = [&](double budget_s) {
    CaseRun run = measurer.begin(slow_cycles, Values(std::map<std::string, std::string>{{"sync", "barrier"}}),
                                 {.precision = -1, .budget_s = budget_s});
    run.visit({now(), 5, false});
    return run.result().times_s.size();
  };
  EXPECT_EQ(repetitions(1000), comm.root() ? 12u : 0u);
  EXPECT_EQ(repetitions(1e-3), comm.root() ? 3u : 0u);
}

// The target of a one-sided operation is ready at once, and its origin may be another rank than 0.
TEST(Measure, WithoutABarrierTheTimeIsTheLongestTooWhereRanksDoNotWaitForOneAnother) {
  const Comm& comm = control();
  Arena arena(count_ranks_on_host(comm));
  const Measurement result =
      Measurer({comm, arena}, comm, {3e-8, 1e-9})
          .measure(slow, Values({}), {.precision = 0.01, .budget_s = 0.3, .max_repetitions = 50}, now());
  EXPECT_EQ(result.times_s.empty(), !comm.root());
  for (const double time : result.times_s) EXPECT_GE(time, 1.99e-3);
}

TEST(Windows, MeasureTheSameAsBarriersWhereRanksHaveCores) {
  if (static_cast<int>(std::thread::hardware_concurrency()) < control().size)
    GTEST_SKIP() << "oversubscribed";
  Measurement result;
  try {
    result = measured(slow, "window", {.precision = 0.01, .budget_s = 1.0, .max_repetitions = 50});
  } catch (const InvalidCase& error) {
    GTEST_SKIP() << error.what();  // other programs use the cores
  }
  ASSERT_TRUE(result.clock_error_s);
  EXPECT_GE(*result.clock_error_s, 0);
  // Scheduling may make a rank late for its window, so only the lower end is certain.
  for (const double time : result.times_s) EXPECT_GE(time, 1.99e-3 - *result.clock_error_s);
}

TEST(Measure, ARepetitionHasTheRunsThatThePatternWants) {
  const Comm& comm = control();
  Arena arena(count_ranks_on_host(comm));
  const Values values(std::map<std::string, std::string>{{"work", "2e-5"},
                                                         {"serial", "0"},
                                                         {"shares", "equal"},
                                                         {"seed", "1"},
                                                         {"iterations", "30"},
                                                         {"bytes", "8"},
                                                         {"buffers", "hot"},
                                                         {"exchange", "ordered"},
                                                         {"sync", "barrier"}});
  const StopRule rule{.precision = 1e-9, .budget_s = 2, .max_repetitions = 4};
  const Measurement result =
      Measurer({comm, arena}, comm, {3e-8, 1e-9}).measure(patterns::granularity, values, rule, now());
  EXPECT_EQ(result.batch, 30);
  ASSERT_EQ(result.metrics.size(), 3u);
  EXPECT_STREQ(result.metrics[0].metric->name, "work");
  if (comm.root()) {
    EXPECT_DOUBLE_EQ(result.metrics[0].values.at(0), 2e-5 / comm.size);
    EXPECT_EQ(result.labels.at("work_clock"), "thread");
  }
}

TEST(Measure, WorkThatWouldNotEndInTimeIsRefusedAlike) {
  const Comm& comm = control();
  Arena arena(count_ranks_on_host(comm));
  const Values values(std::map<std::string, std::string>{{"work", "50"}, {"sync", "barrier"}});
  StopRule rule{.budget_s = 1};
  rule.patience_s = 60;
  EXPECT_THROW(Measurer({comm, arena}, comm, {3e-8, 1e-9}).measure(patterns::compute, values, rule, now()),
               InvalidCase);
}

TEST(GlobalClock, AgreesOverTheRanksOfOneHost) {
  const Comm& comm = control();
  GlobalClock clock;
  const double began = now();
  clock.synchronise(comm);
  const double residual = clock.residual(comm);
  // An exchange bounds an offset's error by half of its duration, and all of them took this long.
  double bound = now() - began;
  comm.reduce_max(&bound, 1);
  comm.broadcast(bound);
  if (comm.root()) {
    EXPECT_LE(residual, bound);
  }
  const double local = now();
  EXPECT_NEAR(clock.to_local(clock.to_global(local)), local, 1e-9);
  double first = clock.to_global(now());
  comm.broadcast(first);
  // A rank that receives rank 0's time receives it after that time.
  EXPECT_GT(clock.to_global(now()), first - bound);
}

TEST(Comm, ControlStepsReachEveryRank) {
  const Comm& comm = control();
  double word = comm.root() ? 2.5 : 0;
  comm.broadcast(word);
  EXPECT_EQ(word, 2.5);
  std::uint64_t sums[] = {1, static_cast<std::uint64_t>(comm.rank)};
  comm.allreduce_sum(sums, 2);
  EXPECT_EQ(sums[0], static_cast<std::uint64_t>(comm.size));
  EXPECT_EQ(sums[1], static_cast<std::uint64_t>(comm.size * (comm.size - 1) / 2));
  EXPECT_EQ(comm.reduce_min(10 + (comm.rank + 1) % comm.size), 10);
  for (int wrong = 0; wrong < comm.size; ++wrong) EXPECT_FALSE(comm.all(comm.rank != wrong));
  EXPECT_TRUE(comm.all(true));
  const double longest = comm.reduce_max(comm.rank == comm.size / 2 ? 7.0 : 1.0);
  const std::string all = comm.gather_text("<" + std::to_string(comm.rank) + ">");
  EXPECT_EQ(comm.allgather_text(comm.rank == comm.size - 1 ? "last" : ""), "last");
  double extremes[] = {static_cast<double>(comm.rank), static_cast<double>(-comm.rank)};
  comm.reduce_min(extremes, 2);
  double total = 1;
  comm.reduce_sum(&total, 1);
  std::vector<int> squares(comm.root() ? static_cast<std::size_t>(comm.size) : 0);
  for (std::size_t i = 0; i < squares.size(); ++i) squares[i] = static_cast<int>(i * i);
  EXPECT_EQ(comm.scatter(squares), comm.rank * comm.rank);
  if (comm.rank % 2) comm.await_broadcast();
  comm.broadcast(word);
  const std::vector<double> gathered = comm.gather({comm.rank + 0.5, 3.0});
  const std::string node = locate(comm).node;
  EXPECT_EQ(comm.allgather_text(comm.root() ? node : ""), node);  // all share this host's memory
  if (!comm.root()) return;
  EXPECT_EQ(node, host_name());
  EXPECT_EQ(extremes[0], 0);
  EXPECT_EQ(extremes[1], 1 - comm.size);
  EXPECT_EQ(total, comm.size);
  ASSERT_EQ(gathered.size(), 2 * static_cast<std::size_t>(comm.size));
  EXPECT_EQ(gathered[gathered.size() - 2], comm.size - 0.5);
  EXPECT_EQ(longest, 7.0);
  std::string wanted;
  for (int rank = 0; rank < comm.size; ++rank) wanted += "<" + std::to_string(rank) + ">";
  EXPECT_EQ(all, wanted);
}

TEST(Block, DescribesMoreThanAnIntCanCount) {
  const std::uint64_t bytes = (std::uint64_t{3} << 30) + 5;
  const Block block(bytes);
  EXPECT_EQ(block.count, 1);
  MPI_Count size = 0;
  MPI_Type_size_x(block.type, &size);
  EXPECT_EQ(static_cast<std::uint64_t>(size), bytes);
  MPI_Count low = 0;
  MPI_Count extent = 0;
  MPI_Type_get_extent_x(block.type, &low, &extent);
  EXPECT_EQ(static_cast<std::uint64_t>(extent), bytes);
  EXPECT_EQ(Block(INT_MAX).type, MPI_BYTE);
}

TEST(Measure, NotEnoughMemoryOnOneRankIsToldToAll) {
  static constexpr WorkloadInfo greedy{
      .name = "greedy",
      .help = "-",
      .time = "-",
      .parameters = parameters,
      .make = [](const Place& place, const Values&) -> std::unique_ptr<Workload> {
        if (place.comm.rank == place.comm.size - 1) place.arena.take(std::size_t{1} << 50);
        return std::make_unique<Slow>(place.comm);
      },
  };
  EXPECT_THROW(measured(greedy, "barrier"), OutOfMemory);
}

// The last rank finds no memory for the payload.
class Unfilled final : public Workload {
 public:
  explicit Unfilled(const Comm& comm) : comm_(comm) {}
  void fill(const Payload&) override {
    if (comm_.rank == comm_.size - 1) throw std::bad_alloc();
  }
  void run() override { MPI_Barrier(comm_.handle); }

 private:
  const Comm& comm_;
};

TEST(Measure, NoMemoryForThePayloadOnOneRankIsToldToAll) {
  static constexpr WorkloadInfo unfilled{
      .name = "unfilled",
      .help = "-",
      .time = "-",
      .parameters = parameters,
      .make = [](const Place& place, const Values&) -> std::unique_ptr<Workload> {
        return std::make_unique<Unfilled>(place.comm);
      },
  };
  EXPECT_THROW(measured(unfilled, "barrier"), OutOfMemory);
  const Comm& comm = control();
  EXPECT_EQ(comm.all(true), true);  // no rank is left behind in a collective call
}

TEST(Measure, AVectorThatCannotBeReducedIsRefusedAlikeBeforeAnyRankLooksForMemory) {
  const Comm& comm = control();
  // Only the last rank shares its host with so many others that there is no room.
  Arena arena(comm.rank == comm.size - 1 ? INT_MAX : 1);
  for (const char* bytes : {"12345678", "17179869184"}) {
    const Values values(std::map<std::string, std::string>{
        {"algorithm", "mpi"}, {"bytes", bytes}, {"buffers", "hot"}, {"sync", "barrier"}});
    EXPECT_THROW(Measurer({comm, arena}, comm, {3e-8, 1e-9})
                     .measure(patterns::allreduce, values, {.budget_s = 0.1}, now()),
                 InvalidCase);
  }
}

TEST(PingPongDouble, MovesThePayloadOfBothRanks) {
  if (control().size != 2) GTEST_SKIP() << "for 2 ranks";
  Arena arena(2);
  const Values values(std::map<std::string, std::string>{{"bytes", "8"}, {"buffers", "hot"}});
  EXPECT_EQ(patterns::pingpong_double.make({control(), arena}, values)->bytes_moved(), 16u);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  const int mine = RUN_ALL_TESTS();
  int worst = 0;
  MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return worst;
}
