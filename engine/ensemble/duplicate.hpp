// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "comm/comm.hpp"

namespace hockney::annealing {

// Returns an owned duplicate. In a simulation, a duplicate would hold a table of all ranks in every rank,
// gigabytes for thousands of ranks, so the communicator itself is used; this suffices if the program has no
// messages of its own in flight.
inline Comm duplicate(MPI_Comm parent) {
#ifdef HOCKNEY_SMPI
  constexpr int most = 1024;
  Comm view = Comm::view(parent);
  if (view.size > most) return view;
#endif
  MPI_Comm copy;
  MPI_Comm_dup(parent, &copy);
  return Comm::owner(copy);
}

}  // namespace hockney::annealing
