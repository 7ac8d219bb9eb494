// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::allgather {
namespace {

// P - 1 steps; in each, a rank sends to its right the block that it received from its left in the previous
// step.
int ring_call(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
              MPI_Datatype received_type, MPI_Comm comm) {
  const Places at(comm);
  const Blocks blocks(incoming, received, received_type);
  if (outgoing != MPI_IN_PLACE) copy(Blocks(outgoing, sent, sent_type), 0, blocks, at.rank, 1);
  const int right = at.rank_of(at.rank + 1), left = at.rank_of(at.rank - 1);
  for (int step = 0; step + 1 < at.size; ++step) {
    const int error = MPI_Sendrecv(blocks[at.rank_of(at.rank - step)], received, received_type, right, tag,
                                   blocks[at.rank_of(at.rank - step - 1)], received, received_type, left, tag,
                                   comm, MPI_STATUS_IGNORE);
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
