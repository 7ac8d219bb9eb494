// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::allgather {
extern const CollectiveAlgorithm<operation::allgather> ring;

namespace {

// P / 2 steps for an even number of ranks. First, ranks 2 i and 2 i + 1 exchange their blocks; then each rank
// exchanges the two blocks that it received last with its two neighbors alternately, beginning with the other
// one. For an odd number of ranks, the blocks travel round a ring.
int neighbor_exchange_call(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming,
                           int received, MPI_Datatype received_type, MPI_Comm comm) {
  const Places at(comm);
  if (at.size % 2 != 0) return ring.call(outgoing, sent, sent_type, incoming, received, received_type, comm);
  const Blocks blocks(incoming, received, received_type);
  if (outgoing != MPI_IN_PLACE) copy(Blocks(outgoing, sent, sent_type), 0, blocks, at.rank, 1);
  const int even = at.rank % 2 == 0 ? 1 : -1;
  const int neighbors[] = {at.rank_of(at.rank + even), at.rank_of(at.rank - even)};
  int error = MPI_Sendrecv(blocks[at.rank], received, received_type, neighbors[0], tag, blocks[neighbors[0]],
                           received, received_type, neighbors[0], tag, comm, MPI_STATUS_IGNORE);
  const BlockMessage two(2, received, received_type);
  int last = at.rank & ~1;  // the first of the two blocks received last
  for (int step = 1; step < at.size / 2 && error == MPI_SUCCESS; ++step) {
    const int neighbor = neighbors[step % 2];
    // from increasingly distant pairs, alternately below and above
    const int far = (step + 1) / 2 * 2, pair = at.rank & ~1;
    const int coming = at.rank_of((at.rank + step) % 2 == 0 ? pair + far : pair - far);
    error = MPI_Sendrecv(blocks[last], two.count, two.type, neighbor, tag, blocks[coming], two.count,
                         two.type, neighbor, tag, comm, MPI_STATUS_IGNORE);
    last = coming;
  }
  return error;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::allgather> neighbor_exchange{
    "neighbor_exchange", "neighbors exchange the two blocks that came last; round a ring if P is odd",
    "Chen, Zhang, Zhang, Yuan, Performance Evaluation of Allgather Algorithms on Terascale Linux Cluster "
    "with Fast "
    "Ethernet (2005)",
    neighbor_exchange_call};

}  // namespace hockney::coll::allgather
