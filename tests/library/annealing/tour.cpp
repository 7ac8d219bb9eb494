// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// The optimal tour of an instance that comes with the library, which is found without a file.
#include <mpi.h>

#include <cstdio>
#include <hockney/annealing.hpp>
#include <hockney/annealing/travelling_salesman.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  namespace annealing = hockney::annealing;
  const auto problem = annealing::TravellingSalesman::load("gr17");
  annealing::Options options;
  options.setup = "collective";
  options.lag = 1;
  options.walkers = 8;
  options.rounds = 60;
  options.steps = 2000;
  const auto result = annealing::anneal(problem, options, MPI_COMM_WORLD);
  const bool same = result.best && problem.energy(*result.best) == result.best_energy;
  if (rank == 0 && same)
    std::printf("%s: %.0f of %.0f\n", problem.name().c_str(), result.best_energy, *problem.optimum());
  MPI_Finalize();
  return same ? 0 : 1;
}
