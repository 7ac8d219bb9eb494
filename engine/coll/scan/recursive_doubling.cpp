// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::scan {
namespace {

// Before the step with distance d, a rank has combined the vectors of d ranks, ending with its own. It sends
// the result d ranks up, and combines the one that it receives from d ranks below as the left operand:
// ceil(log2 P) steps.
int recursive_doubling_call(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm) {
  const Places places(comm);
  if (outgoing != MPI_IN_PLACE) copy(outgoing, incoming, count, type);
  const Elements received(places.rank > 0 ? count : 0, type);
  for (long distance = 1; distance < places.size; distance *= 2) {
    const int far = static_cast<int>(distance);
    const int above = places.rank + distance < places.size ? places.rank + far : MPI_PROC_NULL;
    const int below = places.rank >= distance ? places.rank - far : MPI_PROC_NULL;
    int error = MPI_Sendrecv(incoming, count, type, above, tag, received.data(), count, type, below, tag,
                             comm, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS && below != MPI_PROC_NULL)
      error = MPI_Reduce_local(received.data(), incoming, count, type, op);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::scan> recursive_doubling{
    "recursive_doubling", "partial results go 1, 2, 4, ... ranks up",
    "Hillis, Steele, Data Parallel Algorithms (1986); Sanders, Traff, Parallel Prefix (Scan) Algorithms for "
    "MPI (2006)",
    recursive_doubling_call};

}  // namespace hockney::coll::scan
