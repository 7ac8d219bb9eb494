// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <span>

namespace hockney {

// Descriptor of an algorithm, one for each file of the plug-in folder engine/coll/OPERATION. `call` has the
// arguments of the MPI function, and returns MPI_SUCCESS or an MPI error code. It may send messages on `comm`
// with the tag below: nothing else uses `comm` during the call, but a rank may be several calls ahead of
// another one. Reduction operations are associative; noncommutative ones are applied in rank order. In
// addition to MPI's requirements, a broadcast must have the same count and type on every rank, because some
// algorithms send it in parts.
template <class Operation>
struct CollectiveAlgorithm {
  const char* name;
  const char* help;
  const char* source;  // publication
  typename Operation::Call* call;
};

namespace coll {
inline constexpr int tag = 0x434f;
}

// The operations, each with its table of algorithms and their names (after "mpi"), separated by '|'. CMake
// generates both from the folder.
namespace operation {

#define HOCKNEY_OPERATION(NAME, ...)                                  \
  struct NAME {                                                       \
    using Call = int(__VA_ARGS__);                                    \
    static const char choices[];                                      \
    static std::span<const CollectiveAlgorithm<NAME>* const> table(); \
  }

HOCKNEY_OPERATION(bcast, void* data, int count, MPI_Datatype type, int root, MPI_Comm comm);
HOCKNEY_OPERATION(gather, const void* outgoing, int send_count, MPI_Datatype send_type, void* incoming,
                  int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm);
HOCKNEY_OPERATION(scatter, const void* outgoing, int send_count, MPI_Datatype send_type, void* incoming,
                  int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm);
HOCKNEY_OPERATION(allgather, const void* outgoing, int send_count, MPI_Datatype send_type, void* incoming,
                  int receive_count, MPI_Datatype receive_type, MPI_Comm comm);
HOCKNEY_OPERATION(alltoall, const void* outgoing, int send_count, MPI_Datatype send_type, void* incoming,
                  int receive_count, MPI_Datatype receive_type, MPI_Comm comm);
HOCKNEY_OPERATION(reduce, const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op,
                  int root, MPI_Comm comm);
HOCKNEY_OPERATION(allreduce, const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm);
HOCKNEY_OPERATION(reduce_scatter_block, const void* outgoing, void* incoming, int receive_count,
                  MPI_Datatype type, MPI_Op op, MPI_Comm comm);
HOCKNEY_OPERATION(scan, const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm);

#undef HOCKNEY_OPERATION

}  // namespace operation

}  // namespace hockney
