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

  Check& operator+=(const Check& other) {
    bytes += other.bytes;
    errors += other.errors;
    if (first.empty()) first = other.first;
    return *this;
  }
};

// The data that runs transfer in one visit: bytes that depend on `seed` and on the sender. In a longer
// message, at most `max_bytes` bytes are written and compared, at an offset that depends on the seed, so that
// the cost of verification does not grow with the message; the other bytes are uninitialised.
struct Payload {
  std::uint64_t seed = 0;
  std::size_t max_bytes = std::numeric_limits<std::size_t>::max();

  // Divides the limit among several messages that one verification compares.
  Payload divided_among(std::size_t messages) const;
};

struct Place;

// One workload with its parameters. It contains neither a loop nor a clock: measure() repeats and times
// run().
class Workload {
 public:
  virtual ~Workload() = default;

  // The measured call: the communication, and any computation that belongs to it.
  virtual void run() = 0;

  // Calls run() `count` times. A workload made by make() does this without virtual calls, whose cost would be
  // visible in a collective of two ranks that takes 100 ns.
  void run_batch(int count) { batch_(*this, count); }

  // Prepares `count` calls of run(), outside the timed region.
  virtual void prepare([[maybe_unused]] int count) {}

  // Announces that subsequent runs are repetitions; the case has already made `previous_repetitions` in all
  // visits. Not called before runs of the warm-up or of a verification.
  virtual void repetitions_follow([[maybe_unused]] long done) {}

  // Writes the payload of the next run(), and overwrites its target memory with a different pattern.
  virtual void fill([[maybe_unused]] const Payload& payload) {}

  // Compares the data received by the last run() with the expected data.
  virtual Check verify([[maybe_unused]] const Payload& payload) { return {}; }

  // Results of verification by the workload itself, for each run since the last call that verify() has not
  // reported. Called on all ranks, after the warm-up and after each chunk of repetitions.
  virtual std::vector<Check> take_checks() { return {}; }

  // Whether every run() carries the payload of the last fill(), so that verify() is valid after any number of
  // runs. The same on all ranks.
  virtual bool keeps_payload() const { return false; }

  // Number of operations per run(): 2 for a ping-pong, whose time is reported for one direction.
  virtual double operations() const { return 1; }

  // Whether each run() needs a separate prepare(), so that the clock is read before and after each run. The
  // same on all ranks.
  virtual bool prepared_each_time() const { return false; }

  // The number of repetitions that form a unit, such as a round for each partner: every visit consists of
  // whole units. The same on all ranks.
  virtual int cycle() const { return 1; }

  // The number of units of every visit, unless they take longer than the case's share of the time. The
  // same on all ranks.
  virtual int min_cycles() const { return 1; }

  // The minimum number of calls of run() between two readings of the clock.
  virtual int back_to_back() const { return 1; }

  // Called on all ranks before and after a series of runs that are timed one after the other (sync none), and
  // outside the timed region.
  virtual void start_series() {}
  virtual void end_series() {}

  // Whether this rank's clock counts: false on a rank whose run() does nothing during a series, because it
  // only communicates in start_series().
  virtual bool is_timed() const { return true; }

  // Seconds of computing in one run() on this rank, if known beforehand: on all ranks or on none.
  virtual std::optional<double> computing_s() const { return std::nullopt; }

  // Reports the metrics per record that the descriptor declares, and labels; called once, after the last
  // repetition.
  virtual void report([[maybe_unused]] MetricValues& values) {}

  // Reports the metrics per repetition that the descriptor declares, for the runs since the last call. Called
  // after every repetition, outside the timed region, so it should only return what run() has counted. A
  // phase is the total seconds that these runs spent in it; the engine divides by their operations.
  virtual void sample([[maybe_unused]] MetricValues& values) {}

  // Time at which the last run() entered the operation, by this rank's clock; for Timing::last_entry.
  virtual double entry_time() const { return 0; }

  // Bytes that one operation moves, by the convention of its bandwidth.
  virtual std::uint64_t bytes_moved() const { return 0; }

 private:
  template <class Concrete>
  friend std::unique_ptr<Workload> make(const Place& place, const Values& values);

  template <class Concrete>
  static void run_each(Workload& workload, int count) {
    auto& concrete = static_cast<Concrete&>(workload);
    for (int i = 0; i < count; ++i) concrete.run();
  }

  void (*batch_)(Workload&, int) = run_each<Workload>;
};

// The environment of a workload: its communicator, the memory for its buffers, the number of this launch
// within its run, and the folder of the files that the plan names, which rank 0 reads.
struct Place {
  const Comm& comm;
  Arena& arena;
  long launch = 0;
  std::string files = ".";
  std::uint64_t seed = 0;  // of the run's random choices
};

// Which clock times an operation: rank 0's if it covers the whole operation, otherwise the maximum over the
// ranks; or the global clock, from the last rank's entry to the last exit, or from the first exit to the
// last. With the global clock, each repetition is a single run().
enum class Timing { root, longest, last_entry, exits };

constexpr bool by_global_clock(Timing timing) {
  return timing == Timing::last_entry || timing == Timing::exits;
}

// Creates a workload, with its parameters.
using MakeWorkload = std::unique_ptr<Workload>(const Place&, const Values&);

// The descriptor of a workload: its catalog entry, and how to create it. `role` is its part in studies
// (point-to-point, collective, kernel, ...), `operation` what it performs, `size` the name of the parameter
// that is its size ("" for none). `max_ranks` of 0 means no limit. If `shows_distribution`, rare slow
// operations are of interest: each operation is timed separately, and a case does not end because its median
// is precise.
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
  bool shows_distribution = false;
  std::span<const Parameter> parameters = {};
  std::span<const Metric> metrics = {};
  MakeWorkload* make = nullptr;
};

// Creates a workload of class Concrete.
template <class Concrete>
std::unique_ptr<Workload> make(const Place& place, const Values& values) {
  std::unique_ptr<Workload> workload = std::make_unique<Concrete>(place, values);
  workload->batch_ = Workload::run_each<Concrete>;
  return workload;
}

inline constexpr const char* time_of_call = "the maximum over the ranks";

// Descriptor of a collective call with this name, which moves `bytes` bytes.
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

// Every workload of this executable's plug-in folder, by name. Generated by CMake.
std::span<const WorkloadInfo* const> all_workloads();
// Name of the executable, which is also the name of its group. Generated by CMake.
extern const char executable_name[];
// Level of thread support that the workloads need from MPI, such as MPI_THREAD_SINGLE. Generated by CMake.
extern const int thread_level;

}  // namespace hockney
