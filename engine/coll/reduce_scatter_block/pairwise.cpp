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
int pairwise_call(const void* outgoing, void* incoming, int receive_count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  const Places places(comm);
  const Combination combine(type, op);
  const bool in_place = outgoing == MPI_IN_PLACE;
  const Blocks vector(in_place ? incoming : outgoing, receive_count, type);
  // If the call is in place, the first block must still be sent.
  const Elements result(in_place ? receive_count : 0, type), received(receive_count, type);
  const Elements upper_sum(combine.commutes ? 0 : receive_count, type);
  void* const sum = in_place ? result.data() : incoming;
  copy(vector[places.rank], sum, receive_count, type);
  for (int step = 1; step < places.size; ++step) {
    const int target = places.rank_of(places.rank + step), source = places.rank_of(places.rank - step);
    const bool is_separate = !combine.commutes && source > places.rank, first = source == places.size - 1;
    void* const buffer = is_separate && first ? upper_sum.data() : received.data();
    int error = MPI_Sendrecv(vector[target], receive_count, type, target, tag, buffer, receive_count, type,
                             source, tag, comm, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS && buffer != upper_sum.data())
      error = combine(received.data(), is_separate ? upper_sum.data() : sum, receive_count, true);
    if (error != MPI_SUCCESS) return error;
  }
  if (!combine.commutes && places.rank + 1 < places.size) {
    const int error = combine(upper_sum.data(), sum, receive_count, false);
    if (error != MPI_SUCCESS) return error;
  }
  if (in_place) copy(sum, incoming, receive_count, type);
  return MPI_SUCCESS;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::reduce_scatter_block> pairwise{
    "pairwise", "each rank gets the parts of its block from one other at a time",
    "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005), 4.4",
    pairwise_call};

}  // namespace hockney::coll::reduce_scatter_block
