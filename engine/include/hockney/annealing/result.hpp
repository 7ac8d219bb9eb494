// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace hockney::annealing {

// Seconds of this rank, by MPI_Wtime, from the start of the first round to the end of its last message. Every
// moment belongs to one of the five kinds, so they add up to `elapsed`.
struct Times {
  double computation = 0;  // steps, after_steps, statistics and schedules
  double posting = 0;      // calls that begin a nonblocking operation
  double testing = 0;      // MPI_Test and the like
  double waiting = 0;      // blocking calls
  double balancing = 0;    // redistribution of walkers, including the wait for other ranks
  double elapsed = 0;
};

// A round, as the master learned of it. In decoupled, of all ranks together, with the times and the
// temperature of rank 0 (of its first group).
struct Round {
  double end_s = 0;           // since the start: when the statistics of all ranks were there
  double temperature = 0;     // of the schedule; a rank with an estimate may have used another
  double best = 0;            // lowest energy of all walkers so far
  double mean = 0;            // of the energies of all walkers at the end of the round
  std::int64_t steps = 0;     // of all walkers, since the start
  std::int64_t accepted = 0;  // of all walkers, in this round
};

// What does not depend on the type of the state.
struct Report {
  Times times;                 // of this rank
  std::int64_t steps = 0;      // of this rank's walkers
  std::int64_t accepted = 0;   // the same
  double estimated = 0;        // share of its steps that were made with a temperature from an estimate
  int walkers_sent = 0;        // to other ranks, by redistributions
  std::vector<double> made_s;  // since the start: when this rank had made its steps of each round
  double initial_temperature = 0;
  // Of all ranks, on all ranks:
  double best_energy = 0;     // of any state that any walker was in
  double mean_energy = 0;     // of the final states
  double target_s = -1;       // when the target was reached, since the start; -1: never
  std::uint64_t digest = 0;   // of the final states, their energies, and the schedule
  std::vector<Round> rounds;  // on rank 0, empty elsewhere
};

template <class State>
struct FinalWalker {
  std::uint32_t number;
  double energy;
  State state;
};

template <class State>
struct Result : Report {
  std::vector<FinalWalker<State>> walkers;  // on this rank, by number
  std::optional<State> best;                // with best_energy, on all ranks; empty if nothing is proposed
};

}  // namespace hockney::annealing
