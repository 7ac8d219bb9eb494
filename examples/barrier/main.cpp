// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps of work with a barrier between them: the best one here, beside MPI's.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <hockney/barrier.hpp>
#include <vector>

namespace {

constexpr int steps = 100;
constexpr int times = 5;

// Seconds per step on the slowest rank: the median of several trials.
template <class Step>
double seconds_of(Step step) {
  std::vector<double> found;
  for (int go = 0; go < times; ++go) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int k = 0; k < steps; ++k) step();
    double seconds = (MPI_Wtime() - start) / steps;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    found.push_back(seconds);
  }
  std::nth_element(found.begin(), found.begin() + times / 2, found.end());
  return found[times / 2];
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  {
    hockney::BarrierChoice choice;
    const auto barrier = hockney::best_barrier(MPI_COMM_WORLD, &choice);
    const double ours = seconds_of([&] { barrier->wait(); });
    const double mpis = seconds_of([] { MPI_Barrier(MPI_COMM_WORLD); });
    if (rank == 0) {
      for (const auto& trial : choice.trials)
        std::printf("%-20s %9.3f us\n", trial.name.c_str(), trial.seconds * 1e6);
      std::printf("%.*s for %d ranks, found in %.1f ms\n", static_cast<int>(barrier->name().size()),
                  barrier->name().data(), size, choice.seconds * 1e3);
      std::printf("a step: %.3f us, with MPI_Barrier %.3f us\n", ours * 1e6, mpis * 1e6);
    }
  }  // the barrier must be destroyed before MPI_Finalize
  MPI_Finalize();
  return 0;
}
