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
int bruck_call(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
               MPI_Datatype received_type, MPI_Comm comm) {
  const Places at(comm);
  const Blocks blocks(incoming, received, received_type);
  const Elements memory(static_cast<long long>(at.size) * received, received_type);
  const Blocks turned(memory.data(), received, received_type);
  if (outgoing == MPI_IN_PLACE)
    copy(blocks, at.rank, turned, 0, 1);
  else
    copy(Blocks(outgoing, sent, sent_type), 0, turned, 0, 1);
  for (long distance = 1; distance < at.size; distance *= 2) {
    const int far = static_cast<int>(distance);
    const BlockMessage message(std::min(far, at.size - far), received, received_type);
    const int error =
        MPI_Sendrecv(turned[0], message.count, message.type, at.rank_of(at.rank - far), tag, turned[far],
                     message.count, message.type, at.rank_of(at.rank + far), tag, comm, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
  }
  copy(turned, 0, blocks, at.rank, at.size - at.rank);
  copy(turned, at.size - at.rank, blocks, 0, at.rank);
  return MPI_SUCCESS;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::allgather> bruck{
    "bruck", "blocks go 1, 2, 4, ... ranks down together, then are turned",
    "Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient Algorithms for All-to-All Communications in Multiport "
    "Message-Passing Systems (1997); Thakur, Rabenseifner, Gropp (2005), 4.1",
    bruck_call};

}  // namespace hockney::coll::allgather
