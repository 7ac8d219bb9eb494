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
T on_all(T value, MPI_Datatype type, MPI_Op operation, const Comm& comm) {
  T result{};
  MPI_Allreduce(&value, &result, 1, type, operation, comm.handle);
  return result;
}

// Throws on all ranks if an energy on any of them is not a finite number.
void require_finite(const Walkers& walkers, const Comm& comm) {
  std::uint32_t bad = std::numeric_limits<std::uint32_t>::max();
  for (std::size_t i = walkers.size(); i-- > 0;)
    if (!std::isfinite(walkers[i].energy)) bad = walkers[i].number;
  bad = on_all(bad, MPI_UINT32_T, MPI_MIN, comm);
  if (bad != std::numeric_limits<std::uint32_t>::max())
    throw std::domain_error("hockney::annealing: the energy of walker " + std::to_string(bad) +
                            " is not a finite number");
}

// The consecutive walkers of this rank: as equally many as possible, or whole groups.
void create_walkers(Walkers& walkers, const SetupInfo& setup, const Options& options, const Comm& comm) {
  const int blocks = !setup.communicates && options.groups > 0 ? options.groups : comm.size;
  const std::vector<int> counts = equal_counts(options.walkers, blocks);
  const std::vector<int> on_ranks = equal_counts(blocks, comm.size);
  const auto mine = on_ranks.begin() + comm.rank;
  const auto first = counts.begin() + std::accumulate(on_ranks.begin(), mine, 0);
  walkers.create(static_cast<std::uint32_t>(std::accumulate(counts.begin(), first, 0)),
                 static_cast<std::size_t>(std::accumulate(first, first + *mine, 0)));
}

double bound_of(const Walkers& walkers, const Comm& comm) {
  if (const std::optional<double> bound = walkers.energy_bound()) return *bound;
  double largest = 0;
  for (std::size_t i = 0; i < walkers.size(); ++i) largest = std::max(largest, std::abs(walkers[i].energy));
  return bound_over_initial * on_all(largest, MPI_DOUBLE, MPI_MAX, comm);
}

double initial_temperature(const Walkers& walkers, const Options& options) {
  if (options.temperature > 0) return options.temperature;
  const double sampled = walkers.sampled_temperature();
  if (sampled > 0) return sampled;
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
        on_all(part_->sums(0, part_->walkers.size()).energies, MPI_DOUBLE, MPI_SUM, comm) / options_.walkers;
    constexpr double never = std::numeric_limits<double>::infinity();
    const double reached = on_all(part_->target_s < 0 ? never : part_->target_s, MPI_DOUBLE, MPI_MIN, comm);
    report.target_s = reached == never ? -1 : reached;
    report.digest = on_all(part_->schedule_digest + states_digest(), MPI_UINT64_T, MPI_SUM, comm);
    if (!setup_.communicates) put_together();
    report.made_s = std::move(part_->made_s);
    if (comm.root()) report.rounds = std::move(part_->rounds);
    return report;
  }

 private:
  // The best of all ranks, and its state.
  double share_best(std::vector<std::byte>& state) {
    const Comm& comm = comm_;
    const Best& best = part_->walkers.best();
    const double energy = on_all(best.energy, MPI_DOUBLE, MPI_MIN, comm);
    if (!options_.propose) return energy;
    constexpr int never = std::numeric_limits<int>::max();
    const int round = on_all(best.energy == energy ? best.round : never, MPI_INT, MPI_MIN, comm);
    const bool first = best.energy == energy && best.round == round;
    constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
    const std::uint32_t walker = on_all(first ? best.walker : nobody, MPI_UINT32_T, MPI_MIN, comm);
    const int owner = on_all(first && best.walker == walker ? comm.rank : comm.size, MPI_INT, MPI_MIN, comm);
    state = part_->walkers.best_state();
    state.resize(part_->walkers.bytes() - sizeof(WalkerData));
    const Block block(state.size());
    MPI_Bcast(state.data(), block.count, block.type, owner, comm.handle);
    return energy;
  }

  std::uint64_t states_digest() const {
    const Walkers& walkers = part_->walkers;
    std::uint64_t sum = 0;
    std::vector<std::byte> saved(walkers.bytes());
    for (std::size_t i = 0; i < walkers.size(); ++i) {
      walkers.save(i, saved.data());
      const std::uint64_t state = options_.propose ? hash(std::span(saved).subspan(sizeof(WalkerData))) : 0;
      sum += digest_of(walkers[i].number, state, walkers[i].energy);
    }
    return sum;
  }

  // The rounds of all ranks together, where each has recorded its own.
  void put_together() {
    const Comm& comm = comm_;
    for (Round& round : part_->rounds) {
      round.best = on_all(round.best, MPI_DOUBLE, MPI_MIN, comm);
      round.mean = on_all(round.mean, MPI_DOUBLE, MPI_SUM, comm) / options_.walkers;
      round.steps = on_all(round.steps, MPI_INT64_T, MPI_SUM, comm);
      round.accepted = on_all(round.accepted, MPI_INT64_T, MPI_SUM, comm);
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
