// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "comm/comm.hpp"

namespace hockney::annealing {

// An owned duplicate. A simulated duplicate holds a table of all ranks in every rank, gigabytes for thousands
// of ranks, which use the communicator itself: this suffices if the program has no messages of its own under
// way.
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
