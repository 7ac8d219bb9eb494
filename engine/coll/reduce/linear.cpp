// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::reduce {
namespace {

// The root receives from the last rank first, so that each vector it receives is the left operand, as
// noncommutative operations require. An empty reduction sends no message.
int linear_call(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm) {
  if (count == 0) return MPI_SUCCESS;
  const Places places(comm);
  if (places.rank != root) return MPI_Send(outgoing, count, type, root, tag, comm);
  const bool in_place = outgoing == MPI_IN_PLACE;
  const Elements root_copy(in_place ? count : 0, type), received(count, type);
  if (in_place) copy(incoming, root_copy.data(), count, type);
  const void* const own = in_place ? root_copy.data() : outgoing;
  const int last = places.size - 1;
  if (root == last) copy(own, incoming, count, type);
  for (int rank = root == last ? last - 1 : last; rank >= 0; --rank) {
    void* const target = rank == last ? incoming : received.data();
    if (rank != root) {
      const int error = MPI_Recv(target, count, type, rank, tag, comm, MPI_STATUS_IGNORE);
      if (error != MPI_SUCCESS) return error;
    }
    if (rank == last) continue;
    const int error = MPI_Reduce_local(rank == root ? own : received.data(), incoming, count, type, op);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::reduce> linear{
    "linear", "the root receives from one rank after another and combines",
    "Pjesivac-Grbovic et al., Performance Analysis of MPI Collective Operations (2007), flat tree",
    linear_call};

}  // namespace hockney::coll::reduce
