// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::allgather {
namespace {

// P - 1 steps; in each, a rank sends to its right the block that it received from its left in the previous
// step.
int ring_call(const void* outgoing, int send_count, MPI_Datatype send_type, void* incoming, int receive_count,
              MPI_Datatype receive_type, MPI_Comm comm) {
  const Places places(comm);
  const Blocks blocks(incoming, receive_count, receive_type);
  if (outgoing != MPI_IN_PLACE) copy(Blocks(outgoing, send_count, send_type), 0, blocks, places.rank, 1);
  const int right = places.rank_of(places.rank + 1), left = places.rank_of(places.rank - 1);
  for (int step = 0; step + 1 < places.size; ++step) {
    const int error = MPI_Sendrecv(blocks[places.rank_of(places.rank - step)], receive_count, receive_type,
                                   right, tag, blocks[places.rank_of(places.rank - step - 1)], receive_count,
                                   receive_type, left, tag, comm, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::allgather> ring{
    "ring", "blocks travel round a ring",
    "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005), 4.1",
    ring_call};

}  // namespace hockney::coll::allgather
