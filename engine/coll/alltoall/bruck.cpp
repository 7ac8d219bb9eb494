// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/outgoing.hpp"
#include "coll/places.hpp"

namespace hockney::coll::alltoall {
namespace {

// Block j is for the rank j above. The bits of j determine its path: in the step for bit b, all blocks with
// that bit set move 2^b ranks up together. ceil(log2 P) steps.
int bruck_call(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
               MPI_Datatype received_type, MPI_Comm comm) {
  const Places at(comm);
  const Blocks to(incoming, received, received_type);
  const Blocks from(outgoing == MPI_IN_PLACE ? incoming : outgoing,
                    outgoing == MPI_IN_PLACE ? received : sent,
                    outgoing == MPI_IN_PLACE ? received_type : sent_type);
  const Elements memory(static_cast<long long>(at.size) * received, received_type);
  const Blocks turned(memory.data(), received, received_type);
  copy(from, at.rank, turned, 0, at.size - at.rank);
  copy(from, 0, turned, at.size - at.rank, at.rank);

  // Each step moves at most half of the blocks, rounded up.
  const int most = at.size / 2 + 1;
  const Elements packed(static_cast<long long>(most) * received, received_type);
  const Elements unpacked(static_cast<long long>(most) * received, received_type);
  const Blocks going(packed.data(), received, received_type),
      coming(unpacked.data(), received, received_type);
  for (long bit = 1; bit < at.size; bit <<= 1) {
    const int far = static_cast<int>(bit);
    int blocks = 0;
    for (int block = far; block < at.size; ++block)
      if (block & far) copy(turned, block, going, blocks++, 1);
    const BlockMessage message(blocks, received, received_type);
    const int error =
        MPI_Sendrecv(going[0], message.count, message.type, at.rank_of(at.rank + far), tag, coming[0],
                     message.count, message.type, at.rank_of(at.rank - far), tag, comm, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
    blocks = 0;
    for (int block = far; block < at.size; ++block)
      if (block & far) copy(coming, blocks++, turned, block, 1);
  }
  // Block j now comes from the rank j below.
  for (int block = 0; block < at.size; ++block) copy(turned, block, to, at.rank_of(at.rank - block), 1);
  return MPI_SUCCESS;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::alltoall> bruck{
    "bruck", "blocks go 1, 2, 4, ... ranks up together",
    "Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient Algorithms for All-to-All Communications in Multiport "
    "Message-Passing Systems (1997); Thakur, Rabenseifner, Gropp (2005), 4.3",
    bruck_call};

}  // namespace hockney::coll::alltoall
