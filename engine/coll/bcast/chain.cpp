// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/pipeline.hpp"
#include "coll/places.hpp"

namespace hockney::coll::bcast {
namespace {

// Each rank forwards segments to the next one: P - 1 steps, and one more for each segment after the first.
int chain_call(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const Places places(comm, root);
  const int parent = places.place > 0 ? places.rank_of(places.place - 1) : MPI_PROC_NULL;
  const int child = places.place + 1 < places.size ? places.rank_of(places.place + 1) : MPI_PROC_NULL;
  return send_pipelined(data, count, type, parent, {child, MPI_PROC_NULL}, comm);
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::bcast> chain{
    "chain", "down a chain of all ranks, in segments of 8 KiB",
    "Pjesivac-Grbovic et al., Performance Analysis of MPI Collective Operations (2007), pipeline",
    chain_call};

}  // namespace hockney::coll::bcast
