// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>

#include "ensemble/balancer.hpp"
#include "ensemble/checks.hpp"
#include "ensemble/digest.hpp"
#include "ensemble/duplicate.hpp"
#include "ensemble/part.hpp"
#include "hockney/annealing.hpp"

namespace hockney::annealing {
namespace {

int ranks_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

template <class T>
T allreduce(T value, MPI_Datatype type, MPI_Op operation, const Comm& comm) {
  T result{};
  MPI_Allreduce(&value, &result, 1, type, operation, comm.handle);
  return result;
}

// Throws on all ranks if an energy on any rank is not finite.
void require_finite(const Walkers& walkers, const Comm& comm) {
  std::uint32_t first_invalid = std::numeric_limits<std::uint32_t>::max();
  for (std::size_t i = walkers.size(); i-- > 0;)
    if (!std::isfinite(walkers[i].energy)) first_invalid = walkers[i].number;
  first_invalid = allreduce(first_invalid, MPI_UINT32_T, MPI_MIN, comm);
  if (first_invalid != std::numeric_limits<std::uint32_t>::max())
    throw std::domain_error("hockney::annealing: the energy of walker " + std::to_string(first_invalid) +
                            " is not a finite number");
}

// Creates this rank's consecutive walkers: numbers as equal as possible, or whole groups.
void create_walkers(Walkers& walkers, const SetupInfo& setup, const Options& options, const Comm& comm) {
  const int blocks = !setup.communicates && options.groups > 0 ? options.groups : comm.size;
  const std::vector<int> counts = divide_evenly(options.walkers, blocks);
  const std::vector<int> on_ranks = divide_evenly(blocks, comm.size);
  const auto own_range = on_ranks.begin() + comm.rank;
  const auto first = counts.begin() + std::accumulate(on_ranks.begin(), own_range, 0);
  walkers.create(static_cast<std::uint32_t>(std::accumulate(counts.begin(), first, 0)),
                 static_cast<std::size_t>(std::accumulate(first, first + *own_range, 0)));
}

double bound_of(const Walkers& walkers, const Comm& comm) {
  if (const std::optional<double> bound = walkers.energy_bound()) return *bound;
  double largest = 0;
  for (std::size_t i = 0; i < walkers.size(); ++i) largest = std::max(largest, std::abs(walkers[i].energy));
  return bound_over_initial * allreduce(largest, MPI_DOUBLE, MPI_MAX, comm);
}

double initial_temperature(const Walkers& walkers, const Options& options) {
  if (options.temperature > 0) return options.temperature;
  const double sampled_temperature = walkers.sampled_temperature();
  if (sampled_temperature > 0) return sampled_temperature;
  throw std::invalid_argument(
      "hockney::annealing: no sampled move raises the energy, so the initial temperature has to be given");
}

}  // namespace

class Run::Implementation final {
 public:
  Implementation(Walkers& walkers, const Options& options, MPI_Comm parent)
      : options_(options),
        setup_(setup_named(options_.setup)),
        checked_((check(setup_, options_, ranks_of(parent)), true)),
        comm_(duplicate(parent)),
        wait_policy_(parent) {
    const Comm& comm = comm_;
    create_walkers(walkers, setup_, options_, comm);
    require_finite(walkers, comm);
    quantum_.emplace(options_.walkers, bound_of(walkers, comm));
    part_.emplace(walkers, options_, comm, wait_policy_, *quantum_, initial_temperature(walkers, options_));
    rounds_ = setup_.make(*part_);
  }

  void run() {
    part_->begin();
    rounds_->run();
    part_->end();
  }

  Report report(std::vector<std::byte>& best_state) {
    const Comm& comm = comm_;
    rounds_.reset();
    require_finite(part_->walkers, comm);
    Report report;
    report.times = part_->times;
    report.steps = part_->steps;
    report.accepted = part_->walkers.accepted();
    report.estimated = static_cast<double>(part_->estimated_steps) / static_cast<double>(part_->steps);
    report.walkers_sent = part_->walkers_sent;
    report.initial_temperature = part_->initial_temperature;
    report.best_energy = share_best(best_state);
    report.mean_energy =
        allreduce(part_->sums(0, part_->walkers.size()).energies, MPI_DOUBLE, MPI_SUM, comm) /
        options_.walkers;
    constexpr double never = std::numeric_limits<double>::infinity();
    const double earliest_s =
        allreduce(part_->target_s < 0 ? never : part_->target_s, MPI_DOUBLE, MPI_MIN, comm);
    report.target_s = earliest_s == never ? -1 : earliest_s;
    report.digest = allreduce(part_->schedule_digest + states_digest(), MPI_UINT64_T, MPI_SUM, comm);
    if (!setup_.communicates) combine_rounds();
    report.made_s = std::move(part_->steps_made_s);
    if (comm.root()) report.rounds = std::move(part_->rounds);
    return report;
  }

 private:
  // Returns the best energy of all ranks, and its state.
  double share_best(std::vector<std::byte>& state) {
    const Comm& comm = comm_;
    const Best& best = part_->walkers.best();
    const double energy = allreduce(best.energy, MPI_DOUBLE, MPI_MIN, comm);
    if (!options_.propose) return energy;
    constexpr int never = std::numeric_limits<int>::max();
    const int round = allreduce(best.energy == energy ? best.round : never, MPI_INT, MPI_MIN, comm);
    const bool first = best.energy == energy && best.round == round;
    constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
    const std::uint32_t walker = allreduce(first ? best.walker : nobody, MPI_UINT32_T, MPI_MIN, comm);
    const int owner =
        allreduce(first && best.walker == walker ? comm.rank : comm.size, MPI_INT, MPI_MIN, comm);
    state = part_->walkers.best_state();
    state.resize(part_->walkers.bytes() - sizeof(WalkerData));
    const Block block(state.size());
    MPI_Bcast(state.data(), block.count, block.type, owner, comm.handle);
    return energy;
  }

  std::uint64_t states_digest() const {
    const Walkers& walkers = part_->walkers;
    std::uint64_t sum = 0;
    std::vector<std::byte> initial_state(walkers.bytes());
    for (std::size_t i = 0; i < walkers.size(); ++i) {
      walkers.save(i, initial_state.data());
      const std::uint64_t state =
          options_.propose ? hash(std::span(initial_state).subspan(sizeof(WalkerData))) : 0;
      sum += digest_of(walkers[i].number, state, walkers[i].energy);
    }
    return sum;
  }

  // Combines the rounds that the ranks have recorded.
  void combine_rounds() {
    const Comm& comm = comm_;
    for (Round& round : part_->rounds) {
      round.best = allreduce(round.best, MPI_DOUBLE, MPI_MIN, comm);
      round.mean = allreduce(round.mean, MPI_DOUBLE, MPI_SUM, comm) / options_.walkers;
      round.steps = allreduce(round.steps, MPI_INT64_T, MPI_SUM, comm);
      round.accepted = allreduce(round.accepted, MPI_INT64_T, MPI_SUM, comm);
    }
  }

  const Options options_;
  const SetupInfo& setup_;
  const bool checked_;
  const Comm comm_;
  const WaitPolicy wait_policy_;
  std::optional<Quantum> quantum_;
  std::optional<Part> part_;
  std::unique_ptr<Rounds> rounds_;
};

Run::Run(Walkers& walkers, const Options& options, MPI_Comm comm)
    : implementation_(std::make_unique<Implementation>(walkers, options, comm)) {}
Run::~Run() = default;

void Run::run() {
  implementation_->run();
}

Report Run::report(std::vector<std::byte>& best_state) {
  return implementation_->report(best_state);
}

}  // namespace hockney::annealing
