// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace hockney::smpi {

// Whether the machine's medium carries a broadcast as one message that all nodes receive:
// HOCKNEY_BROADCAST=1.
bool broadcasts_on_medium();

// MPI_Bcast of all ranks by such a message: the next rank after the root receives it, all others at the same
// moment.
int broadcast_on_medium(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm);

}  // namespace hockney::smpi
