// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// A hardware barrier, as on the Cray T3E: MPI_Barrier of all ranks ends HOCKNEY_HARDWARE_BARRIER_S after the
// last rank entered, and no message is sent. MPI's profiling interface allows a program to replace
// MPI_Barrier.
#include <mpi.h>
#include <simgrid/actor.h>
#include <simgrid/barrier.h>

#include "smpi/calls.hpp"
#include "smpi/setting.hpp"

namespace {

// Deliberately shared by all ranks: they share the memory of one process and run one at a time, so the first
// rank creates it. A new barrier starts when the last rank has entered the current one.
sg_bar_t meeting = nullptr;

double seconds() {
  static const double value = hockney::smpi::setting("HOCKNEY_HARDWARE_BARRIER_S", -1);
  return value;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

}  // namespace

extern "C" int MPI_Barrier(MPI_Comm comm) {
  const int ranks = size_of(MPI_COMM_WORLD);
  hockney::smpi::spend_call("barrier", 0);
  if (seconds() < 0 || size_of(comm) != ranks) return PMPI_Barrier(comm);
  if (!meeting) meeting = sg_barrier_init(static_cast<unsigned>(ranks));
  sg_barrier_wait(meeting);
  if (seconds() > 0) sg_actor_sleep_for(seconds());
  return MPI_SUCCESS;
}
