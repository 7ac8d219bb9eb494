// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Synchronises simulated ranks whose clocks are off and drift. Prints the simulated seconds of one
// synchronisation, the largest actual error of the common clock, and the measured residual error.
#include <mpi.h>

#include <cmath>
#include <cstdio>

#include "base/clock.hpp"
#include "comm/comm.hpp"
#include "comm/global_clock.hpp"
#include "wrong_clocks.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const hockney::Comm comm = hockney::Comm::view(MPI_COMM_WORLD);
  hockney::GlobalClock clock;
  double longest = 0;
  for (int time = 0; time < 4; ++time) {
    comm.barrier();
    const double began = PMPI_Wtime();
    clock.synchronise(comm);
    longest = std::fmax(longest, PMPI_Wtime() - began);
    hockney::pass(0.05);
  }
  const double residual = clock.residual(comm);
  const double error = std::abs(clock.to_global(MPI_Wtime()) - as_seen_by(0, PMPI_Wtime()));
  double most[] = {longest, error};
  comm.reduce_max(most, 2);
  if (comm.root()) std::printf("seconds %.9f error %.9f residual %.9f\n", most[0], most[1], residual);
  MPI_Finalize();
  return 0;
}
