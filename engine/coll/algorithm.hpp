// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <span>

namespace hockney {

// One file of the shelf engine/coll/OPERATION: an algorithm by name, called with the arguments of the MPI
// function, returning MPI_SUCCESS or an MPI error code. It may send messages on `comm` with the tag below:
// its ranks call nothing else on `comm` meanwhile, and a rank may be several calls ahead of another one.
// Operations of reductions are associative; those that do not commute are applied in the order of the ranks.
// Beyond what MPI demands, a broadcast has the same count and type on every rank: some are sent in parts.
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
HOCKNEY_OPERATION(gather, const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming,
                  int received, MPI_Datatype received_type, int root, MPI_Comm comm);
HOCKNEY_OPERATION(scatter, const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming,
                  int received, MPI_Datatype received_type, int root, MPI_Comm comm);
HOCKNEY_OPERATION(allgather, const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming,
                  int received, MPI_Datatype received_type, MPI_Comm comm);
HOCKNEY_OPERATION(alltoall, const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming,
                  int received, MPI_Datatype received_type, MPI_Comm comm);
HOCKNEY_OPERATION(reduce, const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op,
                  int root, MPI_Comm comm);
HOCKNEY_OPERATION(allreduce, const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm);
HOCKNEY_OPERATION(reduce_scatter_block, const void* outgoing, void* incoming, int received, MPI_Datatype type,
                  MPI_Op op, MPI_Comm comm);
HOCKNEY_OPERATION(scan, const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm);

#undef HOCKNEY_OPERATION

}  // namespace operation

}  // namespace hockney
