// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Computing while something else goes on: what it loses to a thread on its processor, and what is hidden of
// an operation that needs no processor; run under mpiexec with the tests of mpi_measure.cpp.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "measure/overlapped.hpp"
#include "measured.hpp"

namespace {

using namespace checks;

constexpr int repetitions = 9;

const Values values(std::map<std::string, std::string>{
    {"computing", "1"}, {"duration", "0.01"}, {"tests", "3"}, {"sync", "barrier"}});

// The calling thread, and those that it starts, stay on the processor where it is.
class OneProcessor {
 public:
  OneProcessor() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OneProcessor() { sched_setaffinity(0, sizeof before_, &before_); }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

 private:
  cpu_set_t before_;
};

// An operation that is over `wall_s` after its start; until then, a thread computes if it should.
class Operation final : public Workload, public NonblockingOperation {
 public:
  Operation(double wall_s, bool thief) : wall_s_(wall_s) {
    if (thief) thread_ = std::thread([this] { steal(); });
  }
  ~Operation() override {
    ends_ = true;
    if (thread_.joinable()) thread_.join();
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  void run() override {}
  // MPI_Test and MPI_Wait return at once.
  void start(MPI_Request* request) override {
    *request = MPI_REQUEST_NULL;
    until_ = now() + wall_s_;
  }

 private:
  void steal() {
    while (!ends_)
      if (now() >= until_) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }

  const double wall_s_;
  std::atomic<double> until_ = 0;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

constexpr auto metrics = metrics_of_overlap(OverRanks::root);

// This rank's values of a metric in each repetition.
std::map<std::string, std::vector<double>> measured_values(Overlapped& overlapped) {
  MetricValues sampled(metrics, true);
  std::map<std::string, std::vector<double>> found;
  overlapped.fill({});
  overlapped.prepare(1);
  overlapped.sample(sampled);
  for (int i = 0; i < repetitions; ++i) {
    overlapped.prepare(1);
    overlapped.run();
    sampled.clear();
    overlapped.sample(sampled);
    EXPECT_EQ(sampled.problem(), "");
    for (std::size_t k = 0; k < sampled.metrics().size(); ++k)
      found[sampled.metrics()[k]->name].push_back(sampled.values()[k].front());
  }
  return found;
}

// Alone, because processors that ranks share are already slow without the thread. Other programs slow the
// computation alone and meanwhile; only much of that, at the wrong moments, could need another attempt.
TEST(Overlapped, ShowsWhatAThreadStealsOnItsProcessor) {
  const Comm& comm = control();
  if (comm.size > 1) return;
  const OneProcessor one;
  Arena arena(count_ranks_on_host(comm));
  const auto stolen = [&](bool thief) {
    Overlapped overlapped({comm, arena}, values, std::make_unique<Operation>(0.03, thief), Timing::root);
    return median(measured_values(overlapped).at("stolen"));
  };
  double most = -100;
  for (int attempt = 0; attempt < 4 && most < 15; ++attempt)
    most = std::max(most, stolen(true) - stolen(false));
  EXPECT_GE(most, 15);
}

TEST(Overlapped, AgreesWithItsDefinitionsInEveryRepetition) {
  const Comm& comm = control();
  Arena arena(count_ranks_on_host(comm));
  Overlapped overlapped({comm, arena}, values, std::make_unique<Operation>(0, false), Timing::root);
  const auto found = measured_values(overlapped);
  const auto of = [&](const char* name, int i) { return found.at(name)[static_cast<std::size_t>(i)]; };
  for (int i = 0; i < repetitions; ++i) {
    const double total = of("posting", i) + of("computing", i) + of("testing", i) + of("waiting", i);
    const double shorter = std::min(of("pure", i), of("cpu", i));
    const double hidden = std::clamp(of("pure", i) + of("cpu", i) - total, 0.0, shorter);
    EXPECT_NEAR(of("hidden", i), hidden, 1e-12);
    EXPECT_NEAR(of("overlap", i), 100 * hidden / shorter, 1e-6);
    EXPECT_NEAR(of("availability", i), 100 * of("cpu", i) / total, 1e-9);
    EXPECT_NEAR(of("stolen", i), 100 * (of("computing", i) / of("alone", i) - 1), 1e-9);
    EXPECT_GT(of("alone", i), 0);
    EXPECT_GE(of("cpu", i), of("alone", i));
  }
}

}  // namespace
