// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::scan {
namespace {

// Each rank combines its vector with the one it receives from the rank below, and sends the result on.
int linear_call(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op,
                MPI_Comm comm) {
  const Places places(comm);
  if (outgoing != MPI_IN_PLACE) copy(outgoing, incoming, count, type);
  if (places.rank > 0) {
    const Elements received(count, type);
    int error = MPI_Recv(received.data(), count, type, places.rank - 1, tag, comm, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS) error = MPI_Reduce_local(received.data(), incoming, count, type, op);
    if (error != MPI_SUCCESS) return error;
  }
  if (places.rank + 1 == places.size) return MPI_SUCCESS;
  return MPI_Send(incoming, count, type, places.rank + 1, tag, comm);
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::scan> linear{
    "linear", "from each rank to the next",
    "Sanders, Traff, Parallel Prefix (Scan) Algorithms for MPI (2006)", linear_call};

}  // namespace hockney::coll::scan
