// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"

namespace hockney::coll::reduce {
extern const CollectiveAlgorithm<operation::reduce> binomial;
}
namespace hockney::coll::bcast {
extern const CollectiveAlgorithm<operation::bcast> binomial;
}

namespace hockney::coll::allreduce {
namespace {

// Reduces to rank 0 and broadcasts from it, along binomial trees.
int reduce_broadcast_call(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  // MPI_IN_PLACE is for the root of a reduction only
  const void* const operand = outgoing == MPI_IN_PLACE && rank > 0 ? incoming : outgoing;
  const int error = reduce::binomial.call(operand, incoming, count, type, op, 0, comm);
  return error == MPI_SUCCESS ? bcast::binomial.call(incoming, count, type, 0, comm) : error;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::allreduce> reduce_broadcast{
    "reduce_broadcast", "a reduction to rank 0 and a broadcast, along binomial trees",
    "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005), 4.5",
    reduce_broadcast_call};

}  // namespace hockney::coll::allreduce
