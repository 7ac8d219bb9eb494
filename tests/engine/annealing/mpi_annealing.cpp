// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Annealings on all ranks, compared with the same on this rank alone.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/abilities.hpp"
#include "base/clock.hpp"
#include "ensemble/messages.hpp"
#include "hockney/annealing.hpp"
#include "toy.hpp"

namespace {

using namespace hockney::annealing;

int rank_of_this() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
int size_of_all() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}
double sum_of_all(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

Options small() {
  Options options;
  options.walkers = 30;
  options.steps = 50;
  options.rounds = 12;
  options.speed = 0.3;
  return options;
}

// Every set-up that this MPI has, with its variants; decoupled with fixed groups.
std::vector<Options> variants() {
  std::vector<Options> all;
  for (const std::string& name : setup_names()) {
    if (name == "persistent" && !HOCKNEY_HAS_MPI4) continue;
    for (const int lag : {0, 1, 3})
      for (const int test_every : {0, 7}) {
        Options options = small();
        options.setup = name;
        options.lag = lag;
        options.test_every = test_every;
        options.groups = name == "decoupled" ? 10 : 0;
        const bool has_lag = name == "lagged" || name == "collective" || name == "persistent";
        if (lag == 0 || has_lag) all.push_back(options);
      }
  }
  return all;
}

std::string described(const Options& options) {
  return options.setup + " lag " + std::to_string(options.lag) + " test_every " +
         std::to_string(options.test_every);
}

template <class State>
void expect_same(const Result<State>& result, const Result<State>& alone) {
  EXPECT_EQ(result.digest, alone.digest);
  EXPECT_EQ(result.best_energy, alone.best_energy);
  EXPECT_EQ(result.mean_energy, alone.mean_energy);
  EXPECT_EQ(result.initial_temperature, alone.initial_temperature);
  EXPECT_EQ(result.best.value().signs, alone.best.value().signs);
  for (const auto& walker : result.walkers) {
    EXPECT_EQ(walker.energy, alone.walkers.at(walker.number).energy);
    EXPECT_EQ(walker.state.signs, alone.walkers.at(walker.number).state.signs);
  }
  if (rank_of_this() != 0) return;
  ASSERT_EQ(result.rounds.size(), alone.rounds.size());
  for (std::size_t i = 0; i < alone.rounds.size(); ++i) {
    EXPECT_EQ(result.rounds[i].temperature, alone.rounds[i].temperature) << i;
    EXPECT_EQ(result.rounds[i].best, alone.rounds[i].best) << i;
    EXPECT_EQ(result.rounds[i].mean, alone.rounds[i].mean) << i;
    EXPECT_EQ(result.rounds[i].steps, alone.rounds[i].steps) << i;
    EXPECT_EQ(result.rounds[i].accepted, alone.rounds[i].accepted) << i;
  }
}

TEST(Annealing, MessagesHaveTheSizesOfThePaper) {
  const MessageTypes types;
  int bytes = 0;
  MPI_Type_size(types.schedule, &bytes);
  EXPECT_EQ(bytes, 1 * 8 + 2 * 4);
  MPI_Type_size(types.statistics, &bytes);
  EXPECT_EQ(bytes, 4 * 8 + 1 * 4);
}

TEST(Annealing, ReproducibleSetupsDoNotDependOnTheRanks) {
  const toy::Partition problem;
  int compared = 0;
  for (const Options& options : variants()) {
    if (!reproducible(options)) continue;
    SCOPED_TRACE(described(options));
    expect_same(anneal(problem, options, MPI_COMM_WORLD), anneal(problem, options, MPI_COMM_SELF));
    ++compared;
  }
  EXPECT_GE(compared, 12);
}

TEST(Annealing, SchedulesOfLaggedAndCollectiveAreTheSame) {
  const toy::Partition problem;
  for (const int lag : {1, 2}) {
    Options options = small();
    options.lag = lag;
    options.setup = "lagged";
    const std::uint64_t digest = anneal(problem, options, MPI_COMM_WORLD).digest;
    options.setup = "collective";
    EXPECT_EQ(anneal(problem, options, MPI_COMM_WORLD).digest, digest);
    options.seed = 2;
    EXPECT_NE(anneal(problem, options, MPI_COMM_WORLD).digest, digest);
  }
}

TEST(Annealing, GeometricCoolingGivesTheSameInAllSetups) {
  std::uint64_t digest = 0;
  for (Options options : variants()) {
    SCOPED_TRACE(described(options));
    options.cooling = Cooling::geometric;
    const std::uint64_t found = anneal(toy::Partition{}, options, MPI_COMM_WORLD).digest;
    if (digest == 0) digest = found;
    EXPECT_EQ(found, digest);
  }
}

TEST(Annealing, EverySetupEndsWithAllWalkersAndTrueEnergies) {
  const toy::Partition problem;
  for (const Options& options : variants()) {
    SCOPED_TRACE(described(options));
    const double begun = hockney::now();
    const auto result = anneal(problem, options, MPI_COMM_WORLD);
    const double elapsed = hockney::now() - begun;
    double numbers = 0, energies = 0;
    for (const auto& walker : result.walkers) {
      numbers += walker.number;
      energies += walker.energy;
      EXPECT_NEAR(problem.energy(walker.state), walker.energy, 1e-9);
      EXPECT_GE(walker.energy, result.best_energy);
    }
    EXPECT_EQ(sum_of_all(static_cast<double>(result.walkers.size())), options.walkers);
    EXPECT_EQ(sum_of_all(numbers), options.walkers * (options.walkers - 1) / 2.0);
    EXPECT_NEAR(sum_of_all(energies) / options.walkers, result.mean_energy, 1e-4);
    EXPECT_NEAR(problem.energy(result.best.value()), result.best_energy, 1e-9);
    const double steps = static_cast<double>(options.walkers) * options.steps * options.rounds;
    EXPECT_EQ(sum_of_all(static_cast<double>(result.steps)), steps);
    if (rank_of_this() == 0) {
      ASSERT_EQ(result.rounds.size(), static_cast<std::size_t>(options.rounds));
      EXPECT_EQ(static_cast<double>(result.rounds.back().steps), steps);
      EXPECT_EQ(result.rounds.back().best, result.best_energy);
      EXPECT_EQ(result.rounds.back().mean, result.mean_energy);
      EXPECT_LE(result.rounds.back().end_s, result.times.elapsed);
    }
    const Times& t = result.times;
    EXPECT_NEAR(t.computation + t.posting + t.testing + t.waiting + t.balancing, t.elapsed,
                1e-9 + 1e-9 * t.elapsed);
    EXPECT_LE(t.elapsed, elapsed);
    EXPECT_GT(t.computation, 0);
    EXPECT_EQ(t.balancing, 0);
  }
}

TEST(Annealing, WalkersMoveAwayFromASlowRankAndTheirPathsStay) {
  const int size = size_of_all();
  if (size == 1) GTEST_SKIP() << "for several ranks";
  const toy::Partition problem;
  for (Options options : variants()) {
    if (options.setup == "decoupled" || options.lag > 1 || options.test_every == 0) continue;
    SCOPED_TRACE(described(options));
    options.rounds = 14;
    const Options alone = options;
    options.balance = true;
    // Waits, instead of computing, so that ranks that share cores differ as well.
    const bool slow = rank_of_this() == size - 1;
    const double wait_s = slow ? 1e-3 : 5e-5;
    double owed = 0;
    options.after_steps = [&](int steps) {
      owed += wait_s * steps / options.steps;
      if (owed < 1e-3) return;
      hockney::spin(owed);
      owed = 0;
    };
    const auto result = anneal(problem, options, MPI_COMM_WORLD);
    EXPECT_EQ(sum_of_all(static_cast<double>(result.walkers.size())), options.walkers);
    if (reproducible(options)) expect_same(result, anneal(problem, alone, MPI_COMM_SELF));
    EXPECT_GT(sum_of_all(result.walkers_sent), 0);
    EXPECT_GT(result.times.balancing, 0);
    const int share = options.walkers / size;
    if (slow) {
      EXPECT_LT(result.walkers.size(), static_cast<std::size_t>(share));
    }
  }
}

// A number of steps after which the energy of some walkers is not a number; the others never have one.
struct Breaking {
  struct State {
    std::uint32_t steps, limit;
  };
  using Move = int;
  std::uint32_t limit = 100;
  std::uint32_t one_in = 16;
  State initial(Random& random) const { return {0, random.below(one_in) == 0 ? limit : ~0U}; }
  double energy(const State& state) const { return state.steps >= state.limit ? NAN : 1; }
  Move propose(const State&, Random& random) const { return static_cast<int>(random.below(2)); }
  double change(const State& state, Move) const { return state.steps >= state.limit ? NAN : 0; }
  void accept(State& state, Move) const { ++state.steps; }
  std::size_t bytes() const { return sizeof(State); }
  void save(const State& state, std::byte* out) const { std::memcpy(out, &state, sizeof state); }
  void load(State& state, const std::byte* in) const { std::memcpy(&state, in, sizeof state); }
};

TEST(Annealing, AnEnergyThatIsNotANumberStopsAllRanks) {
  for (Options options : variants()) {
    SCOPED_TRACE(described(options));
    options.temperature = 1;
    for (const int round : {0, 4, options.rounds - 2, options.rounds - 1}) {
      Breaking problem;
      problem.limit = static_cast<std::uint32_t>(options.steps * round + 10);
      std::vector<std::string> texts;
      for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
        try {
          anneal(problem, options, comm);
          ADD_FAILURE() << "no exception";
        } catch (const std::domain_error& error) {
          texts.emplace_back(error.what());
        }
      }
      ASSERT_EQ(texts.size(), 2u);
      EXPECT_EQ(texts[0], texts[1]);
    }
  }
  Breaking at_once;
  at_once.limit = 0;
  EXPECT_THROW(anneal(at_once, small(), MPI_COMM_WORLD), std::domain_error);
}

TEST(Annealing, ImpossibleOptionsAreExceptionsOnAllRanks) {
  const toy::Partition problem;
  const auto refused = [&](auto change) {
    Options options = small();
    change(options);
    EXPECT_THROW(anneal(problem, options, MPI_COMM_WORLD), std::invalid_argument);
  };
  refused([](Options& options) { options.walkers = size_of_all() - 1; });
  refused([](Options& options) { options.walkers = 0; });
  refused([](Options& options) { options.steps = 0; });
  refused([](Options& options) { options.rounds = -1; });
  refused([](Options& options) { options.setup = "none"; });
  refused([](Options& options) { options.lag = 1; });  // original has none
  refused([](Options& options) { options.speed = 0; });
  refused([](Options& options) { options.temperature = NAN; });
  refused([](Options& options) { options.groups = 4; });
  refused([](Options& options) { options.test_every = -1; });
  refused([](Options& options) { options.propose = false; });  // with constant speed
  refused([](Options& options) { options.steps = 2000000000; });
  refused([](Options& options) {
    options.setup = "decoupled";
    options.groups = 30;  // of single walkers
  });
  refused([](Options& options) {
    options.setup = "decoupled";
    options.balance = true;
  });
  if (size_of_all() > 1)
    refused([](Options& options) {
      options.setup = "decoupled";
      options.groups = size_of_all() - 1;
    });
}

TEST(Annealing, MessagesOfTheProgramAreLeftAlone) {
  const int rank = rank_of_this(), size = size_of_all();
  int received = -1;
  MPI_Request request;
  MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  for (const Options& options : variants()) anneal(toy::Partition{}, options, MPI_COMM_WORLD);
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(received, (rank + size - 1) % size);
}

TEST(Annealing, ALateMasterIsBridgedByEstimates) {
  for (const char* setup : {"estimated", "collective"}) {
    Options options = small();
    options.setup = setup;
    if (rank_of_this() == 0) options.after_steps = [](int) { hockney::spin(1e-3); };
    const auto result = anneal(toy::Partition{}, options, MPI_COMM_WORLD);
    // The first round has no estimate; then the others are up to four rounds ahead of the master.
    EXPECT_LE(result.estimated, 1);
    if (rank_of_this() > 0) {
      EXPECT_GT(result.estimated, 0);
    } else if (size_of_all() == 1) {
      EXPECT_EQ(result.estimated, 0);
    }
  }
}

TEST(Annealing, TheTimeToTheTargetIsReported) {
  Options options = small();
  options.target = 1;
  const auto result = anneal(toy::Partition{}, options, MPI_COMM_WORLD);
  ASSERT_LE(result.best_energy, options.target);
  EXPECT_GE(result.target_s, 0);
  options.target = result.best_energy / 2;
  EXPECT_EQ(anneal(toy::Partition{}, options, MPI_COMM_WORLD).target_s, -1);
}

TEST(Annealing, WithoutProposalsOnlyMessagesRemain) {
  for (Options options : variants()) {
    SCOPED_TRACE(described(options));
    options.propose = false;
    options.cooling = Cooling::geometric;
    std::int64_t steps = 0;
    options.after_steps = [&](int more) { steps += more; };
    const auto result = anneal(toy::Partition{}, options, MPI_COMM_WORLD);
    EXPECT_EQ(steps, result.steps);
    EXPECT_EQ(result.accepted, 0);
    EXPECT_FALSE(result.best);
    EXPECT_EQ(result.rounds.size(), static_cast<std::size_t>(rank_of_this() == 0 ? options.rounds : 0));
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  const int mine = RUN_ALL_TESTS();
  int worst = 0;
  MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return worst;
}
