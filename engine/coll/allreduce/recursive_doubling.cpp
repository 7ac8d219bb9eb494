// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::allreduce {
namespace {

// The first 2 (P - 2^k) of the P ranks form pairs: the even rank of a pair sends its vector to the odd one,
// which represents both. The remaining 2^k ranks exchange whole vectors with partners 1, 2, 4, ... places
// apart in k steps; two more steps are needed if P is not a power of two. Every rank adds in the same order,
// so all results are identical bit for bit.
int recursive_doubling_call(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm) {
  const Folding fold(comm);
  if (outgoing != MPI_IN_PLACE) copy(outgoing, incoming, count, type);
  if (!fold.is_representative) {
    const int error = MPI_Send(incoming, count, type, fold.partner, tag, comm);
    if (error != MPI_SUCCESS) return error;
    return MPI_Recv(incoming, count, type, fold.partner, tag, comm, MPI_STATUS_IGNORE);
  }
  const Combination combine(type, op);
  const Elements received(count, type);
  int error = MPI_SUCCESS;
  if (fold.paired) {
    error = MPI_Recv(received.data(), count, type, fold.partner, tag, comm, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS) error = combine(received.data(), incoming, count, true);
  }
  for (int distance = 1; distance < fold.power && error == MPI_SUCCESS; distance *= 2) {
    const int partner = fold.rank_of(fold.place ^ distance);
    error = MPI_Sendrecv(incoming, count, type, partner, tag, received.data(), count, type, partner, tag,
                         comm, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS) error = combine(received.data(), incoming, count, partner < fold.rank);
  }
  if (fold.paired && error == MPI_SUCCESS) error = MPI_Send(incoming, count, type, fold.partner, tag, comm);
  return error;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::allreduce> recursive_doubling{
    "recursive_doubling", "partners 1, 2, 4, ... ranks away exchange whole vectors",
    "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005), 4.5",
    recursive_doubling_call};

}  // namespace hockney::coll::allreduce
