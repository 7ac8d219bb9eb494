// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cmath>

// Clocks of simulated ranks that are off and drift, which a simulator's do not do by themselves: a program
// that includes this replaces MPI_Wtime with a separate clock for each rank.
namespace {

// Up to a second off, and up to 20 us a second fast or slow, as crystals are.
double as_seen_by(int rank, double time) {
  const double offset = std::sin(12.9898 * rank);
  const double drift = 20e-6 * std::sin(78.233 * rank);
  return time * (1 + drift) + offset;
}

}  // namespace

extern "C" double MPI_Wtime() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return as_seen_by(rank, PMPI_Wtime());
}

extern "C" int MPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* found) {
  if (key != MPI_WTIME_IS_GLOBAL) return PMPI_Comm_get_attr(comm, key, value, found);
  *found = 0;
  return MPI_SUCCESS;
}
