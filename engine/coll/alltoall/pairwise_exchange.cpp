// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/outgoing.hpp"
#include "coll/places.hpp"

namespace hockney::coll::alltoall {
namespace {

// P - 1 steps. If P is a power of two, ranks exchange in pairs; otherwise, in step k each rank sends to the
// rank k above it and receives from the rank k below it.
int pairwise_exchange_call(const void* outgoing, int send_count, MPI_Datatype send_type, void* incoming,
                           int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
  const Places places(comm);
  const Blocks to(incoming, receive_count, receive_type);
  const Outgoing from(outgoing, send_count, send_type, to, places.size);
  copy(from.blocks, places.rank, to, places.rank, 1);
  const bool power = (places.size & (places.size - 1)) == 0;
  for (int step = 1; step < places.size; ++step) {
    const int target = power ? places.rank ^ step : places.rank_of(places.rank + step);
    const int source = power ? target : places.rank_of(places.rank - step);
    const int error =
        MPI_Sendrecv(from.blocks[target], from.blocks.count, from.blocks.type, target, tag, to[source],
                     receive_count, receive_type, source, tag, comm, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::alltoall> pairwise_exchange{
    "pairwise_exchange", "a rank exchanges with one other at a time",
    "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005), 4.3",
    pairwise_exchange_call};

}  // namespace hockney::coll::alltoall
