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

Options make_options(const Values& values) {
  const auto integer = [&values](const char* name) { return static_cast<int>(values.integer(name)); };
  Options options;
  options.setup = values.word("setup");
  options.walkers = integer("walkers");
  options.steps = integer("steps");
  options.rounds = integer("temperatures");
  options.cooling = values.word("schedule") == "geometric" ? Cooling::geometric : Cooling::constant_speed;
  options.speed = values.real("speed");
  options.factor = values.real("cooling");
  options.temperature = values.real("temperature");
  options.lag = integer("lag");
  options.lead = integer("lead");
  options.test_every = integer("test_every");
  options.groups = integer("groups");
  options.balance = values.word("balance") == "yes";
  options.seed = static_cast<std::uint64_t>(values.integer("seed"));
  if (values.real("target") != 0) options.target = values.real("target");
  options.propose = values.word("arithmetic") == "real";
  return options;
}

// Optima are integers.
std::string optimum_text(const std::optional<double>& optimum) {
  return optimum ? std::to_string(std::llround(*optimum)) : "";
}

std::string hexadecimal(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

// A launch has time for few repetitions, so each launch begins with a different seed: multiples of the golden
// ratio spread any number of launches evenly over the seeds.
std::int64_t first_seed_index(long launch, std::int64_t seeds) {
  const double golden_turns = static_cast<double>(launch) * 0.6180339887498949;
  const auto first =
      static_cast<std::int64_t>(static_cast<double>(seeds) * (golden_turns - std::floor(golden_turns)));
  return std::min(first, seeds - 1);
}

// Ensemble simulated annealing (A. Fachat, K. H. Hoffmann 1998). Each run has new initial states, which
// prepare() creates outside the timed region. All ranks verify a run together before the next one begins.
class Annealed final : public Workload {
 public:
  Annealed(const Place& place, const Values& values)
      : comm_(place.comm),
        options_(make_options(values)),
        seeds_(values.integer("seeds")),
        first_(first_seed_index(place.launch, seeds_)),
        reproducible_(run_as_case([this] { return reproducible(options_); })),
        step_(values, comm_, options_),
        ensemble_(ensemble(comm_, values)),
        operations_(operations_per_step(values, *ensemble_)) {}

  bool prepared_each_time() const override { return true; }
  void repetitions_follow(long done) override { repetition_ = done; }

  void prepare(int) override {
    settle_run();
    Options options = options_;
    options.seed += static_cast<std::uint64_t>((first_ + repetition_) % seeds_);
    options.after_steps = step_.additional(*ensemble_, operations_);
    seed_ = options.seed;
    ensemble_->prepare(options, comm_.handle);
    is_fresh_ = true;
  }

  void run() override {
    if (!std::exchange(is_fresh_, false)) prepare(1);
    ensemble_->run();
    is_fresh_ = false;
    has_pending_run_ = true;
    ++repetition_;
  }

  // The last run is not a repetition, so its time does not count.
  Check verify(const Payload&) override {
    settle_run();
    times_ = {};
    Check all;
    for (const Check& check : std::exchange(checks_, {})) all += check;
    return all;
  }
  std::vector<Check> take_checks() override {
    settle_run();
    return std::exchange(checks_, {});
  }

  void sample(MetricValues& values) override {
    settle_run();
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
    // Only the master records the rounds.
    std::vector<Round> rounds = report_.rounds;
    rounds.resize(static_cast<std::size_t>(options_.rounds));
    const auto set_rounds = [&](const char* name, auto value) {
      std::vector<double> numbers;
      for (const Round& round : rounds) numbers.push_back(value(round));
      values.set_each(name, numbers);
    };
    set_rounds("round_end", [](const Round& round) { return round.end_s; });
    set_rounds("round_best", [](const Round& round) { return round.best; });
    set_rounds("round_temperature", [](const Round& round) { return round.temperature; });
    set_rounds("round_mean", [](const Round& round) { return round.mean; });
    set_rounds("round_steps", [](const Round& round) { return static_cast<double>(round.steps); });
    std::vector<double> steps_made = report_.made_s;
    steps_made.resize(rounds.size());
    values.set_each("round_made", steps_made);
    const Instance& instance = ensemble_->instance();
    const auto digest = digests_.find(options_.seed + static_cast<std::uint64_t>(first_));
    values.label("digest", digest == digests_.end() ? "" : hexadecimal(digest->second));
    values.label("instance", instance.name);
    values.label("optimum", optimum_text(instance.optimum));
    values.label("operations", std::to_string(std::lround(operations_)));
  }

 private:
  // Settles a run: obtains its report, and verifies it. Collective, called after each run.
  void settle_run() {
    if (!std::exchange(has_pending_run_, false)) return;
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
  const std::int64_t first_;  // first seed of this launch
  const bool reproducible_;
  StepTime step_;
  const std::unique_ptr<Ensemble> ensemble_;
  const double operations_;                         // per step
  long repetition_ = 0;                             // number of the next run
  std::uint64_t seed_ = 0;                          // of the last run
  bool is_fresh_ = false;                           // prepared, and not run since
  bool has_pending_run_ = false;                    // there is a run that has not been settled
  Report report_;                                   // of the last run
  Times times_;                                     // for the runs since the last sample()
  std::map<std::uint64_t, std::uint64_t> digests_;  // by seed
  std::vector<Check> checks_;                       // for the runs since the last take_checks()
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
