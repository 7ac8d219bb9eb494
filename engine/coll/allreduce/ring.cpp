// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::allreduce {
extern const CollectiveAlgorithm<operation::allreduce> recursive_doubling;

namespace {

// Part p of the vector travels round the ring, beginning at rank p, and is combined with each rank's own
// part; then the complete parts travel round once more: 2 (P - 1) steps. Each part begins at a different
// rank, which changes the order of the operands, so noncommutative operations use recursive doubling instead.
int ring_call(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const Combination combine(type, op);
  if (!combine.commutes) return recursive_doubling.call(outgoing, incoming, count, type, op, comm);
  if (outgoing != MPI_IN_PLACE) copy(outgoing, incoming, count, type);
  const Places places(comm);
  const Blocks vector(incoming, 1, type);
  const Parts parts{count, places.size};
  const Elements received(count / places.size + 1, type);
  const int right = places.rank_of(places.rank + 1), left = places.rank_of(places.rank - 1);
  for (int step = 0; step + 1 < places.size; ++step) {
    const int going = places.rank_of(places.rank - step), coming = places.rank_of(places.rank - step - 1);
    int error = MPI_Sendrecv(vector[parts.first(going)], parts.length(going), type, right, tag,
                             received.data(), parts.length(coming), type, left, tag, comm, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS)
      error = combine(received.data(), vector[parts.first(coming)], parts.length(coming), true);
    if (error != MPI_SUCCESS) return error;
  }
  for (int step = 0; step + 1 < places.size; ++step) {
    const int going = places.rank_of(places.rank + 1 - step), coming = places.rank_of(places.rank - step);
    const int error = MPI_Sendrecv(vector[parts.first(going)], parts.length(going), type, right, tag,
                                   vector[parts.first(coming)], parts.length(coming), type, left, tag, comm,
                                   MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::allreduce> ring{
    "ring", "parts travel round a ring twice",
    "Patarasuk, Yuan, Bandwidth Optimal All-Reduce Algorithms for Clusters of Workstations (2009)",
    ring_call};

}  // namespace hockney::coll::allreduce
