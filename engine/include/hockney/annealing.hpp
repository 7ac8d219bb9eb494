// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "hockney/annealing/options.hpp"
#include "hockney/annealing/problem.hpp"
#include "hockney/annealing/random.hpp"
#include "hockney/annealing/result.hpp"
#include "hockney/annealing/walkers.hpp"

// Ensemble simulated annealing on the ranks of an MPI communicator (C++20).
//
//   hockney::annealing::Options options;
//   options.setup = "lagged";
//   const auto result = hockney::annealing::anneal(problem, options, MPI_COMM_WORLD);
//
// All walkers are at one temperature. In a round each makes the same number of Metropolis steps; the energies
// of all at its end decide a later round's temperature. Rank 0 is the master: it computes the schedule and
// has walkers like the others. The messages are those of A. Fachat, K. H. Hoffmann, Blocking vs. non-blocking
// communication under MPI on a master-worker problem, TU Chemnitz 1998: a schedule is 1 double and 2 ints,
// the statistics of a rank are 4 doubles and 1 int. The first round's schedule needs no message.
//
// Results do not depend on the number of ranks, in any bit, if reproducible(options):
//
// - The random numbers of a walker's step depend on the seed, the walker and the step only (random.hpp).
// - In the sums of energies and of their squares, energies are rounded to multiples of a power of two with
//   which both sums are exact: of 64 walkers, energies have 23 bits relative to the largest possible one.
//   Walkers themselves, and the best energy, are not rounded.
// - Temperatures follow from these sums by the same operations, and the set-up, not timing, decides when.
//
// Of several programs or machines this is true as far as their std::exp and std::pow agree.
//
// When an energy turns out not to be a finite number, that walker stops, its rank's statistics are not a
// number, and the master's next schedule ends the annealing at the same round on all ranks.
namespace hockney::annealing {

// One annealing, without the type of the problem.
class Run final {
 public:
  // Collective: creates the walkers. Throws as anneal().
  Run(Walkers& walkers, const Options& options, MPI_Comm comm);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void run();
  Report report(std::vector<std::byte>& best_state);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// An annealing in three parts, for programs that measure it. Everything is collective over the communicator,
// of which duplicates are used.
template <Problem P>
class Annealing final {
 public:
  // Creates the walkers and their initial states. `problem` has to live as long as this object.
  Annealing(const P& problem, const Options& options, MPI_Comm comm)
      : walkers_(problem, options), run_(walkers_, options, comm), propose_(options.propose) {}

  // The annealing itself, which Times describes; once.
  void run() { run_.run(); }

  // Collects the results of all ranks; once, after run().
  Result<typename P::State> result() {
    Result<typename P::State> result;
    std::vector<std::byte> best;
    static_cast<Report&>(result) = run_.report(best);
    if (propose_) result.best = walkers_.state_from(best);
    result.walkers = walkers_.release();
    return result;
  }

 private:
  WalkersOf<P> walkers_;
  Run run_;
  const bool propose_;
};

// Anneals. Throws on all ranks alike: std::invalid_argument if the options are not possible, such as fewer
// walkers than ranks or an unknown set-up; std::runtime_error if this MPI lacks what the set-up needs;
// std::domain_error if an energy is not a finite number, with the number of the walker.
template <Problem P>
Result<typename P::State> anneal(const P& problem, const Options& options, MPI_Comm comm) {
  Annealing<P> annealing(problem, options, comm);
  annealing.run();
  return annealing.result();
}

}  // namespace hockney::annealing
