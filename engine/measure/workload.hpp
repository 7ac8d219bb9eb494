// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "measure/arena.hpp"
#include "measure/metrics.hpp"
#include "measure/values.hpp"

namespace hockney {

// The results of verification on this rank.
struct Check {
  std::uint64_t bytes = 0;
  std::uint64_t errors = 0;
  std::string first;  // position of the first mismatch; empty if there is none

  Check& operator+=(const Check& more) {
    bytes += more.bytes;
    errors += more.errors;
    if (first.empty()) first = more.first;
    return *this;
  }
};

// The data that runs carry in one visit: bytes that depend on `seed` and on the sender. Of a longer message
// at most `most` bytes are written and compared, at an offset that depends on the seed, so that verification
// is cheap however long a message is; the other bytes are uninitialised.
struct Payload {
  std::uint64_t seed = 0;
  std::size_t most = std::numeric_limits<std::size_t>::max();

  // The limit for each of several messages that one verification compares.
  Payload shared_by(std::size_t messages) const;
};

struct Place;

// One workload set up with its parameters. It has neither loop nor clock: measure() repeats and times run().
class Workload {
 public:
  virtual ~Workload() = default;

  // The measured call: only the communication, and the computation that belongs to it.
  virtual void run() = 0;

  // run(), `count` times. In a workload made by make(), without a virtual call each time: at 100 ns for a
  // collective of two ranks, calls through the table are visible.
  void run_batch(int count) { batch_(*this, count); }

  // Preparation for `count` calls of run(), outside the timed region.
  virtual void prepare([[maybe_unused]] int count) {}

  // The runs that follow are repetitions, of which this case has had `done` already, in all visits. Not
  // called before runs of the warm-up or of a verification.
  virtual void repetitions_follow([[maybe_unused]] long done) {}

  // Writes the payload of the next run(), and spoils the memory that it will overwrite.
  virtual void fill([[maybe_unused]] const Payload& payload) {}

  // Compares the data received by the last run() with the expected data.
  virtual Check verify([[maybe_unused]] const Payload& payload) { return {}; }

  // What this workload has verified by itself, for each run since the last call that verify() has not
  // reported. Called on all ranks, after the warm-up and after each chunk of repetitions.
  virtual std::vector<Check> checked() { return {}; }

  // Whether every run() carries the payload of the last fill(), so that verify() is valid after any number of
  // runs. The same on all ranks.
  virtual bool keeps_payload() const { return false; }

  // Operations per run(): 2 for a ping-pong, whose time is given for one direction.
  virtual double operations() const { return 1; }

  // Whether each run() needs a prepare() of its own, so that the clock is read before and after each one. The
  // same on all ranks.
  virtual bool prepared_each_time() const { return false; }

  // The minimum number of calls of run() between two readings of the clock.
  virtual int back_to_back() const { return 1; }

  // Seconds of computing in one run() on this rank, if known beforehand: on all ranks or on none.
  virtual std::optional<double> computing_s() const { return std::nullopt; }

  // Reports the metrics per record that the descriptor declares, and labels; called once, after the last
  // repetition.
  virtual void report([[maybe_unused]] MetricValues& values) {}

  // Reports the metrics per repetition that the descriptor declares, for the runs since the last call. Called
  // after every repetition, outside the timed region, so it should only return what run() has counted. A
  // phase is the total seconds that these runs spent in it; the engine divides by their operations.
  virtual void sample([[maybe_unused]] MetricValues& values) {}

  // By this rank's clock, when the last run() entered the operation; for Timing::last_entry.
  virtual double entered() const { return 0; }

  // Payload that one operation moves, by the convention of its bandwidth.
  virtual std::uint64_t bytes_moved() const { return 0; }

 private:
  template <class P>
  friend std::unique_ptr<Workload> make(const Place& place, const Values& values);

  template <class P>
  static void run_each(Workload& workload, int count) {
    auto& concrete = static_cast<P&>(workload);
    for (int i = 0; i < count; ++i) concrete.run();
  }

  void (*batch_)(Workload&, int) = run_each<Workload>;
};

// Where a workload runs: its communicator, the memory for its buffers, which launch of its run this is, and
// the folder of the files that the plan names, which rank 0 reads.
struct Place {
  const Comm& comm;
  Arena& arena;
  long launch = 0;
  std::string files = ".";
};

// Whose clock is used: rank 0's if it covers the whole operation, otherwise the longest time over the ranks.
// Or, by the global clock, from the last rank's entry to the last exit, or from the first exit to the last;
// each repetition is then a single run().
enum class Timing { root, longest, last_entry, exits };

constexpr bool by_global_clock(Timing timing) {
  return timing == Timing::last_entry || timing == Timing::exits;
}

// Creates a workload, with its parameters.
using MakeWorkload = std::unique_ptr<Workload>(const Place&, const Values&);

// The descriptor of a workload: its catalog entry, and how to set it up. `role` is its part in studies
// (point-to-point, collective, kernel, ...), `operation` what it performs, `size` the parameter that is its
// size ("" for none). A maximum of 0 ranks means no limit.
struct WorkloadInfo {
  const char* name = "";
  const char* role = "";
  const char* operation = "";
  const char* size = "";
  const char* help = "";
  const char* time = "";
  int min_ranks = 1;
  int max_ranks = 0;
  Timing timing = Timing::longest;
  std::span<const Parameter> parameters = {};
  std::span<const Metric> metrics = {};
  MakeWorkload* make = nullptr;
};

// The usual way to create a workload.
template <class P>
std::unique_ptr<Workload> make(const Place& place, const Values& values) {
  std::unique_ptr<Workload> made = std::make_unique<P>(place, values);
  made->batch_ = Workload::run_each<P>;
  return made;
}

inline constexpr const char* time_of_call = "the maximum over the ranks";

// The descriptor of a collective call with this name, which moves `bytes`.
constexpr WorkloadInfo collective_info(const char* name, const char* help, const char* time,
                                       std::span<const Parameter> parameters, MakeWorkload* make) {
  return {.name = name,
          .role = "collective",
          .operation = name,
          .size = "bytes",
          .help = help,
          .time = time,
          .parameters = parameters,
          .make = make};
}

// Every workload of every plug-in folder, by name. Generated by CMake from the folders.
std::span<const WorkloadInfo* const> all_workloads();
// The executable that contains them: their group. Generated as well.
extern const char executable_name[];
// The level of thread support that these need of MPI, as MPI_THREAD_SINGLE. Generated as well.
extern const int thread_level;

}  // namespace hockney
