// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace hockney::smpi {

// Whether the machine's medium carries a broadcast as one message that all nodes receive:
// HOCKNEY_BROADCAST=1.
bool has_medium_broadcast();

// MPI_Bcast of all ranks by such a message: the rank after the root receives it, all others at the same
// moment.
int broadcast_by_medium(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm);

}  // namespace hockney::smpi
