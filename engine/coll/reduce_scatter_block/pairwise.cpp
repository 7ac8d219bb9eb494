// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::reduce_scatter_block {
namespace {

// In step k, a rank sends the block of the rank k above it to that rank, and combines its own block from the
// rank k below it. The blocks of lower ranks arrive in descending order, then those of higher ranks, also in
// descending order: noncommutative operations combine the latter separately, and append them at the end.
int pairwise_call(const void* outgoing, void* incoming, int received, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  const Places at(comm);
  const Combination combine(type, op);
  const bool in_place = outgoing == MPI_IN_PLACE;
  const Blocks vector(in_place ? incoming : outgoing, received, type);
  // If the call is in place, the first block must still be sent.
  const Elements result(in_place ? received : 0, type), coming(received, type);
  const Elements above(combine.commutes ? 0 : received, type);
  void* const sum = in_place ? result.data() : incoming;
  copy(vector[at.rank], sum, received, type);
  for (int step = 1; step < at.size; ++step) {
    const int target = at.rank_of(at.rank + step), source = at.rank_of(at.rank - step);
    const bool apart = !combine.commutes && source > at.rank, first = source == at.size - 1;
    void* const into = apart && first ? above.data() : coming.data();
    int error = MPI_Sendrecv(vector[target], received, type, target, tag, into, received, type, source, tag,
                             comm, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS && into != above.data())
      error = combine(coming.data(), apart ? above.data() : sum, received, true);
    if (error != MPI_SUCCESS) return error;
  }
  if (!combine.commutes && at.rank + 1 < at.size) {
    const int error = combine(above.data(), sum, received, false);
    if (error != MPI_SUCCESS) return error;
  }
  if (in_place) copy(sum, incoming, received, type);
  return MPI_SUCCESS;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::reduce_scatter_block> pairwise{
    "pairwise", "each rank gets the parts of its block from one other at a time",
    "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005), 4.4",
    pairwise_call};

}  // namespace hockney::coll::reduce_scatter_block
