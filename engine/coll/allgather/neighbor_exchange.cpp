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
int neighbor_exchange_call(const void* outgoing, int send_count, MPI_Datatype send_type, void* incoming,
                           int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
  const Places places(comm);
  if (places.size % 2 != 0)
    return ring.call(outgoing, send_count, send_type, incoming, receive_count, receive_type, comm);
  const Blocks blocks(incoming, receive_count, receive_type);
  if (outgoing != MPI_IN_PLACE) copy(Blocks(outgoing, send_count, send_type), 0, blocks, places.rank, 1);
  const int even = places.rank % 2 == 0 ? 1 : -1;
  const int neighbors[] = {places.rank_of(places.rank + even), places.rank_of(places.rank - even)};
  int error =
      MPI_Sendrecv(blocks[places.rank], receive_count, receive_type, neighbors[0], tag, blocks[neighbors[0]],
                   receive_count, receive_type, neighbors[0], tag, comm, MPI_STATUS_IGNORE);
  const BlockMessage block_pair(2, receive_count, receive_type);
  int previous = places.rank & ~1;  // the first of the two blocks that were received last
  for (int step = 1; step < places.size / 2 && error == MPI_SUCCESS; ++step) {
    const int neighbor = neighbors[step % 2];
    // from increasingly distant pairs, alternately below and above
    const int distance = (step + 1) / 2 * 2, pair = places.rank & ~1;
    const int next = places.rank_of((places.rank + step) % 2 == 0 ? pair + distance : pair - distance);
    error = MPI_Sendrecv(blocks[previous], block_pair.count, block_pair.type, neighbor, tag, blocks[next],
                         block_pair.count, block_pair.type, neighbor, tag, comm, MPI_STATUS_IGNORE);
    previous = next;
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
