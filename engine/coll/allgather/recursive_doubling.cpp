// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::allgather {
namespace {

// Partners 1, 2, 4, ... places apart exchange all their blocks. If P is not a power of two, some places
// consist of two ranks: the even rank sends its block to the odd one, and receives all other blocks from it
// at the end. The blocks of a place are consecutive, as are those of 2^k consecutive places.
int recursive_doubling_call(const void* outgoing, int send_count, MPI_Datatype send_type, void* incoming,
                            int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
  const Folding fold(comm);
  const Blocks blocks(incoming, receive_count, receive_type);
  if (outgoing != MPI_IN_PLACE) copy(Blocks(outgoing, send_count, send_type), 0, blocks, fold.rank, 1);
  int error = MPI_SUCCESS;
  if (!fold.is_representative) {
    error = MPI_Send(blocks[fold.rank], receive_count, receive_type, fold.partner, tag, comm);
    if (error != MPI_SUCCESS) return error;
    const BlockMessage all(fold.size, receive_count, receive_type);
    return MPI_Recv(incoming, all.count, all.type, fold.partner, tag, comm, MPI_STATUS_IGNORE);
  }
  if (fold.paired)
    error = MPI_Recv(blocks[fold.partner], receive_count, receive_type, fold.partner, tag, comm,
                     MPI_STATUS_IGNORE);
  for (int distance = 1; distance < fold.power && error == MPI_SUCCESS; distance *= 2) {
    const int partner = fold.place ^ distance;
    // both places have the blocks of `distance` places, beginning at a multiple of `distance`
    const int own_place = fold.place & ~(distance - 1), partner_place = partner & ~(distance - 1);
    const int own_rank = fold.first_rank(own_place), partner_rank = fold.first_rank(partner_place);
    const BlockMessage outgoing_blocks(fold.first_rank(own_place + distance) - own_rank, receive_count,
                                       receive_type);
    const BlockMessage incoming_blocks(fold.first_rank(partner_place + distance) - partner_rank,
                                       receive_count, receive_type);
    const int partner_process = fold.rank_of(partner);
    error = MPI_Sendrecv(blocks[own_rank], outgoing_blocks.count, outgoing_blocks.type, partner_process, tag,
                         blocks[partner_rank], incoming_blocks.count, incoming_blocks.type, partner_process,
                         tag, comm, MPI_STATUS_IGNORE);
  }
  if (!fold.paired || error != MPI_SUCCESS) return error;
  const BlockMessage all(fold.size, receive_count, receive_type);
  return MPI_Send(incoming, all.count, all.type, fold.partner, tag, comm);
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::allgather> recursive_doubling{
    "recursive_doubling", "partners 1, 2, 4, ... ranks away exchange all that they have",
    "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005), 4.1",
    recursive_doubling_call};

}  // namespace hockney::coll::allgather
