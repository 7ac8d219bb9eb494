// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

// Checks whether an algorithm can handle the arguments. For all other arguments MPI's own function is called,
// which reports errors to the program's error handler. These checks must not end the program, so MPI calls
// that may fail use a communicator on which errors are returned.
namespace hockney::arguments {

// Whether the operation can combine elements of the type in the way that the algorithms require: one after
// another towards higher addresses.
bool can_combine(MPI_Op op, MPI_Datatype type);

// Size of `count` elements in bytes, without holes; -1 if an argument is invalid.
long long bytes_of(int count, MPI_Datatype type);

// A communicator that contains only this rank, on which errors are returned.
MPI_Comm error_returning_comm();

// Whether the buffers differ, as required unless one of them is MPI_IN_PLACE, which has no address for
// results.
inline bool separate(const void* outgoing, const void* incoming) {
  return incoming != MPI_IN_PLACE && outgoing != incoming;
}

// The same check for blocks with separate types. Types with holes, or with absolute addresses, may contain
// different data at the same address.
bool separate(const void* outgoing, MPI_Datatype sent, const void* incoming, MPI_Datatype received);

}  // namespace hockney::arguments
