// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::reduce {
namespace {

// Reduces up a binomial tree, nearest child first. The child's places follow those already combined, so
// operations need not commute if places are ranks; then the root of the tree is rank 0, which sends the
// result to `root`. An empty reduction sends no message.
int binomial_call(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op, int root,
                  MPI_Comm comm) {
  if (count == 0) return MPI_SUCCESS;
  const Combination combine(type, op);
  const Places places(comm, combine.commutes ? root : 0);
  const BinomialTree tree(places.place, places.size);
  const bool is_leaf = tree.all() == 1, result = places.rank == root;
  if (is_leaf && !result) return MPI_Send(outgoing, count, type, places.rank_of(tree.parent()), tag, comm);
  const Elements memory(result ? 0 : count, type), received(count, type);
  void* const sum = result ? incoming : memory.data();
  if (outgoing != MPI_IN_PLACE) copy(outgoing, sum, count, type);
  for (long distance = 1; distance < tree.bit && places.place + distance < places.size; distance <<= 1) {
    const int child = places.rank_of(static_cast<int>(places.place + distance));
    int error = MPI_Recv(received.data(), count, type, child, tag, comm, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS) error = combine(received.data(), sum, count, false);
    if (error != MPI_SUCCESS) return error;
  }
  if (places.place > 0) {
    const int error = MPI_Send(sum, count, type, places.rank_of(tree.parent()), tag, comm);
    if (error != MPI_SUCCESS) return error;
  }
  if (places.root == root) return MPI_SUCCESS;
  if (places.place == 0) return MPI_Send(sum, count, type, root, tag, comm);
  return result ? MPI_Recv(incoming, count, type, 0, tag, comm, MPI_STATUS_IGNORE) : MPI_SUCCESS;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::reduce> binomial{
    "binomial", "up a binomial tree of whole vectors",
    "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005), 4.5",
    binomial_call};

}  // namespace hockney::coll::reduce
