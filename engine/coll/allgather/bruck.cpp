// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::allgather {
namespace {

// In temporary memory, a rank's own block is the first. It sends its first 1, 2, 4, ... blocks that many
// ranks down and appends the blocks that it receives from above; at the end, the blocks are rotated into
// place. ceil(log2 P) steps.
int bruck_call(const void* outgoing, int send_count, MPI_Datatype send_type, void* incoming,
               int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
  const Places places(comm);
  const Blocks blocks(incoming, receive_count, receive_type);
  const Elements memory(static_cast<long long>(places.size) * receive_count, receive_type);
  const Blocks rotated(memory.data(), receive_count, receive_type);
  if (outgoing == MPI_IN_PLACE)
    copy(blocks, places.rank, rotated, 0, 1);
  else
    copy(Blocks(outgoing, send_count, send_type), 0, rotated, 0, 1);
  for (long distance = 1; distance < places.size; distance *= 2) {
    const int count = static_cast<int>(distance);
    const BlockMessage message(std::min(count, places.size - count), receive_count, receive_type);
    const int error = MPI_Sendrecv(
        rotated[0], message.count, message.type, places.rank_of(places.rank - count), tag, rotated[count],
        message.count, message.type, places.rank_of(places.rank + count), tag, comm, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
  }
  copy(rotated, 0, blocks, places.rank, places.size - places.rank);
  copy(rotated, places.size - places.rank, blocks, 0, places.rank);
  return MPI_SUCCESS;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::allgather> bruck{
    "bruck", "blocks go 1, 2, 4, ... ranks down together, then are turned",
    "Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient Algorithms for All-to-All Communications in Multiport "
    "Message-Passing Systems (1997); Thakur, Rabenseifner, Gropp (2005), 4.1",
    bruck_call};

}  // namespace hockney::coll::allgather
