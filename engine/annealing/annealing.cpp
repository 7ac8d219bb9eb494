// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "annealing/catalog.hpp"
#include "annealing/instances.hpp"
#include "annealing/step_time.hpp"
#include "measure/shares.hpp"

namespace hockney::annealing {
namespace {

Options options_of(const Values& values) {
  const auto whole = [&values](const char* name) { return static_cast<int>(values.integer(name)); };
  Options options;
  options.setup = values.word("setup");
  options.walkers = whole("walkers");
  options.steps = whole("steps");
  options.rounds = whole("temperatures");
  options.cooling = values.word("schedule") == "geometric" ? Cooling::geometric : Cooling::constant_speed;
  options.speed = values.real("speed");
  options.factor = values.real("cooling");
  options.temperature = values.real("temperature");
  options.lag = whole("lag");
  options.lead = whole("lead");
  options.test_every = whole("test_every");
  options.groups = whole("groups");
  options.balance = values.word("balance") == "yes";
  options.seed = static_cast<std::uint64_t>(values.integer("seed"));
  if (values.real("target") != 0) options.target = values.real("target");
  options.propose = values.word("arithmetic") == "real";
  return options;
}

// Optima are whole numbers.
std::string text_of(const std::optional<double>& optimum) {
  return optimum ? std::to_string(std::llround(*optimum)) : "";
}

std::string hexadecimal(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

// A launch has time for few repetitions, so each begins with another of the seeds: multiples of the golden
// ratio spread any number of launches evenly over them.
std::int64_t first_of_launch(long launch, std::int64_t seeds) {
  const double turns = static_cast<double>(launch) * 0.6180339887498949;
  const auto first = static_cast<std::int64_t>(static_cast<double>(seeds) * (turns - std::floor(turns)));
  return std::min(first, seeds - 1);
}

// Ensemble simulated annealing (A. Fachat, K. H. Hoffmann 1998). Each run has initial states of its own,
// which prepare() makes outside the timed region, and is verified, by all ranks together, before the next one
// begins.
class Annealed final : public Workload {
 public:
  Annealed(const Place& place, const Values& values)
      : comm_(place.comm),
        options_(options_of(values)),
        seeds_(values.integer("seeds")),
        first_(first_of_launch(place.launch, seeds_)),
        reproducible_(as_case([this] { return reproducible(options_); })),
        step_(values, comm_, options_),
        ensemble_(ensemble(comm_, values)),
        operations_(operations_of_step(values, *ensemble_)) {}

  bool prepared_each_time() const override { return true; }
  void repetitions_follow(long done) override { repetition_ = done; }

  void prepare(int) override {
    settle();
    Options options = options_;
    options.seed += static_cast<std::uint64_t>((first_ + repetition_) % seeds_);
    options.after_steps = step_.additional(*ensemble_, operations_);
    seed_ = options.seed;
    ensemble_->prepare(options, comm_.handle);
    fresh_ = true;
  }

  void run() override {
    if (!std::exchange(fresh_, false)) prepare(1);
    ensemble_->run();
    fresh_ = false;
    pending_ = true;
    ++repetition_;
  }

  // The last run is not a repetition, so its time does not count.
  Check verify(const Payload&) override {
    settle();
    times_ = {};
    Check all;
    for (const Check& check : std::exchange(checks_, {})) all += check;
    return all;
  }
  std::vector<Check> checked() override {
    settle();
    return std::exchange(checks_, {});
  }

  void sample(MetricValues& values) override {
    settle();
    const Times times = std::exchange(times_, {});
    const std::pair<const char*, double> parts[] = {{"computation", times.computation},
                                                    {"posting", times.posting},
                                                    {"testing", times.testing},
                                                    {"waiting", times.waiting},
                                                    {"balancing", times.balancing}};
    for (const auto& [name, seconds] : parts) {
      values.set(name, seconds);
      values.set(std::string("rank_") + name, seconds);
    }
    values.set("rank_elapsed", times.elapsed);
    values.set("rank_steps", static_cast<double>(report_.steps));
    values.set("run_seed", static_cast<double>(seed_));
    values.set("best_energy", report_.best_energy);
    values.set("mean_energy", report_.mean_energy);
    values.set("accepted", static_cast<double>(report_.accepted));
    values.set("total_steps", static_cast<double>(report_.steps));
    values.set("estimated_rounds", report_.estimated);
    values.set("moved_walkers", report_.walkers_sent);
    values.set("target_time", report_.target_s);
  }

  void report(MetricValues& values) override {
    // Only the master has the rounds.
    std::vector<Round> rounds = report_.rounds;
    rounds.resize(static_cast<std::size_t>(options_.rounds));
    const auto each = [&](const char* name, auto value) {
      std::vector<double> numbers;
      for (const Round& round : rounds) numbers.push_back(value(round));
      values.set_each(name, numbers);
    };
    each("round_end", [](const Round& round) { return round.end_s; });
    each("round_best", [](const Round& round) { return round.best; });
    each("round_temperature", [](const Round& round) { return round.temperature; });
    each("round_mean", [](const Round& round) { return round.mean; });
    each("round_steps", [](const Round& round) { return static_cast<double>(round.steps); });
    std::vector<double> made = report_.made_s;
    made.resize(rounds.size());
    values.set_each("round_made", made);
    const Instance& instance = ensemble_->instance();
    const auto digest = digests_.find(options_.seed + static_cast<std::uint64_t>(first_));
    values.label("digest", digest == digests_.end() ? "" : hexadecimal(digest->second));
    values.label("instance", instance.name);
    values.label("optimum", text_of(instance.optimum));
    values.label("operations", std::to_string(std::lround(operations_)));
  }

 private:
  // Collective, after each run: its report, and what verifies it.
  void settle() {
    if (!std::exchange(pending_, false)) return;
    auto [report, check] = ensemble_->finish(options_.propose);
    report_ = std::move(report);
    add(report_.times);
    const auto [known, first] = digests_.try_emplace(seed_, report_.digest);
    if (reproducible_) check += {sizeof report_.digest, 0, ""};
    if (reproducible_ && !first && known->second != report_.digest)
      check += {0, 1,
                "seed " + std::to_string(seed_) + " gave the digests " + hexadecimal(known->second) +
                    " and " + hexadecimal(report_.digest)};
    known->second = report_.digest;
    checks_.push_back(check);
  }

  void add(const Times& times) {
    times_.computation += times.computation;
    times_.posting += times.posting;
    times_.testing += times.testing;
    times_.waiting += times.waiting;
    times_.balancing += times.balancing;
    times_.elapsed += times.elapsed;
  }

  const Comm& comm_;
  const Options options_;
  const std::int64_t seeds_;
  const std::int64_t first_;  // of the seeds in this launch
  const bool reproducible_;
  StepTime step_;
  const std::unique_ptr<Ensemble> ensemble_;
  const double operations_;                         // of a step
  long repetition_ = 0;                             // the number of the next run
  std::uint64_t seed_ = 0;                          // of the last run
  bool fresh_ = false;                              // prepared, and not run since
  bool pending_ = false;                            // a run that has not been settled
  Report report_;                                   // of the last run
  Times times_;                                     // of the runs since the last sample()
  std::map<std::uint64_t, std::uint64_t> digests_;  // of each seed
  std::vector<Check> checks_;                       // of the runs since the last checked()
};

}  // namespace

extern constinit const WorkloadInfo annealing{
    .name = "annealing",
    .role = "annealing",
    .operation = "annealing",
    .size = "size",
    .help = "ensemble simulated annealing: walkers at one temperature, and a schedule from their statistics",
    .time = "one whole annealing, the maximum over the ranks",
    .timing = Timing::longest,
    .parameters = annealing_workload::parameters,
    .metrics = annealing_workload::metrics,
    .make = make<Annealed>,
};

}  // namespace hockney::annealing
