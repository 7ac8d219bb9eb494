// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

// Whether arguments are such that an algorithm can take them. With all others MPI's own function is called,
// which reports them as the program's error handler has it. Asking MPI must not end the program: questions
// that may be errors are asked on a communicator on which errors are returned.
namespace hockney::arguments {

// Whether the operation can combine elements of the type, as the algorithms need them: one after another
// towards higher addresses.
bool combines(MPI_Op op, MPI_Datatype type);

// The bytes of `count` elements, without holes; -1 if an argument is invalid.
long long bytes_of(int count, MPI_Datatype type);

// A communicator of this rank alone on which errors are returned.
MPI_Comm own_errors();

// Buffers may not be the same, except with MPI_IN_PLACE, and results have no such place.
inline bool separate(const void* outgoing, const void* incoming) {
  return incoming != MPI_IN_PLACE && outgoing != incoming;
}

// The same of blocks with a type each. Types with holes, or with addresses, have other data at the same
// place.
bool separate(const void* outgoing, MPI_Datatype sent, const void* incoming, MPI_Datatype received);

}  // namespace hockney::arguments
