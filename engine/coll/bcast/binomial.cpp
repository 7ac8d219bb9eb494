// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/places.hpp"

namespace hockney::coll::bcast {
namespace {

// Sends to the farthest child first: ceil(log2 P) steps.
int binomial_call(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const Places places(comm, root);
  const BinomialTree tree(places.place, places.size);
  if (places.place > 0) {
    const int parent = places.rank_of(tree.parent());
    const int error = MPI_Recv(data, count, type, parent, tag, comm, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
  }
  for (long distance = tree.bit >> 1; distance > 0; distance >>= 1) {
    if (places.place + distance >= places.size) continue;
    const int child = places.rank_of(static_cast<int>(places.place + distance));
    const int error = MPI_Send(data, count, type, child, tag, comm);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::bcast> binomial{
    "binomial", "down a binomial tree of whole messages",
    "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005), 4.2",
    binomial_call};

}  // namespace hockney::coll::bcast
