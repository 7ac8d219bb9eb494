// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/halving.hpp"

namespace hockney::coll::reduce {
namespace {

// A reduce-scatter by recursive halving, then a gather up a binomial tree: 2 log2 P steps, in which the
// amount of data halves and then doubles again. If P is not a power of two, some places consist of two ranks,
// one of which first sends its vector to the other. An empty reduction sends no message.
int rabenseifner_call(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op, int root,
                      MPI_Comm comm) {
  if (count == 0) return MPI_SUCCESS;
  const Folding fold(comm, root);
  if (!fold.is_representative) return MPI_Send(outgoing, count, type, fold.partner, tag, comm);
  const bool result = fold.rank == root;
  const Combination combine(type, op);
  const Elements memory(result ? 0 : count, type), received(fold.paired ? count : count - count / 2, type);
  void* const sum = result ? incoming : memory.data();
  if (outgoing != MPI_IN_PLACE) copy(outgoing, sum, count, type);
  int error = MPI_SUCCESS;
  if (fold.paired) {
    error = MPI_Recv(received.data(), count, type, fold.partner, tag, comm, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS) error = combine(received.data(), sum, count, fold.partner < fold.rank);
  }
  Halving halving(fold, sum, count, combine, comm);
  if (error == MPI_SUCCESS) error = halving.reduce_scatter(received.data());
  return error == MPI_SUCCESS ? halving.gather(fold.place_of(root)) : error;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::reduce> rabenseifner{
    "rabenseifner", "halves of vectors to partners 1, 2, 4, ... ranks away, then up a binomial tree",
    "Rabenseifner, Optimization of Collective Reduction Operations (2004); Thakur, Rabenseifner, Gropp "
    "(2005), 5",
    rabenseifner_call};

}  // namespace hockney::coll::reduce
