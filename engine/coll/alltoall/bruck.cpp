// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/outgoing.hpp"
#include "coll/places.hpp"

namespace hockney::coll::alltoall {
namespace {

// Block j is for the rank j above. The bits of j determine its path: in the step for bit b, all blocks with
// that bit set move up 2^b ranks. ceil(log2 P) steps.
int bruck_call(const void* outgoing, int send_count, MPI_Datatype send_type, void* incoming,
               int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
  const Places places(comm);
  const Blocks to(incoming, receive_count, receive_type);
  const Blocks from(outgoing == MPI_IN_PLACE ? incoming : outgoing,
                    outgoing == MPI_IN_PLACE ? receive_count : send_count,
                    outgoing == MPI_IN_PLACE ? receive_type : send_type);
  const Elements memory(static_cast<long long>(places.size) * receive_count, receive_type);
  const Blocks rotated(memory.data(), receive_count, receive_type);
  copy(from, places.rank, rotated, 0, places.size - places.rank);
  copy(from, 0, rotated, places.size - places.rank, places.rank);

  // Each step moves at most half of the blocks, rounded up.
  const int max_blocks = places.size / 2 + 1;
  const Elements packed(static_cast<long long>(max_blocks) * receive_count, receive_type);
  const Elements unpacked(static_cast<long long>(max_blocks) * receive_count, receive_type);
  const Blocks going(packed.data(), receive_count, receive_type),
      coming(unpacked.data(), receive_count, receive_type);
  for (long bit = 1; bit < places.size; bit <<= 1) {
    const int far = static_cast<int>(bit);
    int blocks = 0;
    for (int block = far; block < places.size; ++block)
      if (block & far) copy(rotated, block, going, blocks++, 1);
    const BlockMessage message(blocks, receive_count, receive_type);
    const int error = MPI_Sendrecv(going[0], message.count, message.type, places.rank_of(places.rank + far),
                                   tag, coming[0], message.count, message.type,
                                   places.rank_of(places.rank - far), tag, comm, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
    blocks = 0;
    for (int block = far; block < places.size; ++block)
      if (block & far) copy(coming, blocks++, rotated, block, 1);
  }
  // Block j now comes from the rank j below.
  for (int block = 0; block < places.size; ++block)
    copy(rotated, block, to, places.rank_of(places.rank - block), 1);
  return MPI_SUCCESS;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::alltoall> bruck{
    "bruck", "blocks go 1, 2, 4, ... ranks up together",
    "Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient Algorithms for All-to-All Communications in Multiport "
    "Message-Passing Systems (1997); Thakur, Rabenseifner, Gropp (2005), 4.3",
    bruck_call};

}  // namespace hockney::coll::alltoall
