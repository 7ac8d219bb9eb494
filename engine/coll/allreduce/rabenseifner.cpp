// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/halving.hpp"

namespace hockney::coll::allreduce {
namespace {

// A reduce-scatter by recursive halving, then an allgather by recursive doubling in the reverse order: 2 log2
// P steps. If P is not a power of two, some places consist of two ranks: the even rank sends its vector to
// the odd one, and receives the result from it.
int rabenseifner_call(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm) {
  const Folding fold(comm);
  const void* const own = outgoing == MPI_IN_PLACE ? incoming : outgoing;
  if (!fold.is_representative) {
    const int error = MPI_Send(own, count, type, fold.partner, tag, comm);
    if (error != MPI_SUCCESS) return error;
    return MPI_Recv(incoming, count, type, fold.partner, tag, comm, MPI_STATUS_IGNORE);
  }
  const Combination combine(type, op);
  const Elements received(fold.paired ? count : count - count / 2, type);
  if (outgoing != MPI_IN_PLACE) copy(outgoing, incoming, count, type);
  int error = MPI_SUCCESS;
  if (fold.paired) {
    error = MPI_Recv(received.data(), count, type, fold.partner, tag, comm, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS) error = combine(received.data(), incoming, count, true);
  }
  Halving halving(fold, incoming, count, combine, comm);
  if (error == MPI_SUCCESS) error = halving.reduce_scatter(received.data());
  if (error == MPI_SUCCESS) error = halving.allgather();
  if (fold.paired && error == MPI_SUCCESS) error = MPI_Send(incoming, count, type, fold.partner, tag, comm);
  return error;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::allreduce> rabenseifner{
    "rabenseifner", "halves of vectors to partners 1, 2, 4, ... ranks away, and back",
    "Rabenseifner, Optimization of Collective Reduction Operations (2004); Thakur, Rabenseifner, Gropp "
    "(2005), 5",
    rabenseifner_call};

}  // namespace hockney::coll::allreduce
