// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace hockney::annealing {

// How the temperature of the next round follows from this one's; formulas in schedule.hpp.
enum class Cooling { constant_speed, geometric };

// What is annealed and how: the same on all ranks, except the functions.
struct Options {
  // How the ranks exchange schedules and statistics: one of setup_names().
  //
  //   original    broadcast and gather, blocking
  //   estimated   nonblocking messages; a rank estimates its schedule from its own walkers until the master's
  //               arrives; timing decides, so results are not reproducible
  //   decoupled   no communication: every group of walkers has its own schedule
  //   collective  as estimated with MPI_Ibcast and MPI_Igather; with a lag, as lagged
  //   lagged      nonblocking messages; statistics take effect `lag` rounds later than in original
  //   persistent  as collective, with the persistent collectives of MPI-4
  std::string setup = "original";

  int walkers = 64;
  // Of each walker in a round, which is at one temperature.
  int steps = 1000;
  int rounds = 50;

  Cooling cooling = Cooling::constant_speed;
  // Of constant_speed: thermodynamic length of a round, in standard deviations of the energy.
  double speed = 0.1;
  // Of geometric: each temperature divided by the one before.
  double factor = 0.95;
  // Of the first round, in units of the energy; 0: from a sample of the problem's moves (schedule.hpp).
  double temperature = 0;

  // Statistics of round r decide the temperature of round r + 1 + lag, always. 0: in lagged 1; in estimated,
  // collective and persistent as soon as they arrive.
  int lag = 0;
  // How many rounds a rank may be ahead of the newest schedule that it has, where schedules are used as soon
  // as they arrive: it then waits. At least 1; as many as rounds never make it wait.
  int lead = 4;
  // Progress of messages is made whenever a rank has made this number of steps; 0: at the end of a round
  // only.
  int test_every = 0;
  // In decoupled: the number of groups, so that results do not depend on the number of ranks; 0: one per
  // rank.
  int groups = 0;
  // Walkers move to ranks that turn out to be faster, `lead` rounds after a schedule that announces it. Not
  // in decoupled.
  bool balance = false;

  std::uint64_t seed = 1;

  // The time when an energy of at most `target` is first found is reported: the end of the steps in which it
  // was, at most those of one walker in a round.
  double target = -std::numeric_limits<double>::infinity();
  // Called when this rank's walkers have made `steps` further steps: at most those of one walker in a round,
  // or until the next test; without proposals, those of all walkers of the rank. The time that it takes
  // counts as computation.
  std::function<void(int steps)> after_steps;
  // false: nothing is proposed and there are no states; all energies are 0, and only messages and after_steps
  // remain. Needs geometric cooling. For simulated machines.
  bool propose = true;
};

// The names of all set-ups, sorted. Does not need MPI.
std::vector<std::string> setup_names();
// Whether results with these options depend on neither timing nor the number of ranks. Throws
// std::invalid_argument for an unknown set-up.
bool reproducible(const Options& options);

}  // namespace hockney::annealing
