// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::allgather {
namespace {

// Partners 1, 2, 4, ... places apart exchange all their blocks. If P is not a power of two, two ranks share
// each of the first places: the even one sends its block to the odd one, and receives all others from it at
// the end. The blocks of a place are consecutive, as are those of 2^k consecutive places.
int recursive_doubling_call(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming,
                            int received, MPI_Datatype received_type, MPI_Comm comm) {
  const Folding fold(comm);
  const Blocks blocks(incoming, received, received_type);
  if (outgoing != MPI_IN_PLACE) copy(Blocks(outgoing, sent, sent_type), 0, blocks, fold.rank, 1);
  int error = MPI_SUCCESS;
  if (!fold.stands) {
    error = MPI_Send(blocks[fold.rank], received, received_type, fold.other, tag, comm);
    if (error != MPI_SUCCESS) return error;
    const BlockMessage all(fold.size, received, received_type);
    return MPI_Recv(incoming, all.count, all.type, fold.other, tag, comm, MPI_STATUS_IGNORE);
  }
  if (fold.paired)
    error = MPI_Recv(blocks[fold.other], received, received_type, fold.other, tag, comm, MPI_STATUS_IGNORE);
  for (int distance = 1; distance < fold.power && error == MPI_SUCCESS; distance *= 2) {
    const int partner = fold.place ^ distance;
    // both have the blocks of `distance` places, beginning at a multiple of `distance`
    const int own = fold.place & ~(distance - 1), others = partner & ~(distance - 1);
    const int own_first = fold.first_rank(own), others_first = fold.first_rank(others);
    const BlockMessage going(fold.first_rank(own + distance) - own_first, received, received_type);
    const BlockMessage coming(fold.first_rank(others + distance) - others_first, received, received_type);
    const int to = fold.rank_of(partner);
    error = MPI_Sendrecv(blocks[own_first], going.count, going.type, to, tag, blocks[others_first],
                         coming.count, coming.type, to, tag, comm, MPI_STATUS_IGNORE);
  }
  if (!fold.paired || error != MPI_SUCCESS) return error;
  const BlockMessage all(fold.size, received, received_type);
  return MPI_Send(incoming, all.count, all.type, fold.other, tag, comm);
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::allgather> recursive_doubling{
    "recursive_doubling", "partners 1, 2, 4, ... ranks away exchange all that they have",
    "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005), 4.1",
    recursive_doubling_call};

}  // namespace hockney::coll::allgather
