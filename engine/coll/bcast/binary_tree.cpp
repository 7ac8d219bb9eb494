// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/pipeline.hpp"
#include "coll/places.hpp"

namespace hockney::coll::bcast {
namespace {

// The children of place p are 2 p + 1 and 2 p + 2, as in a heap.
int binary_tree_call(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const Places places(comm, root);
  const auto child = [&](int index) {
    const long long place = 2LL * places.place + index;
    return place < places.size ? places.rank_of(static_cast<int>(place)) : MPI_PROC_NULL;
  };
  const int parent = places.place > 0 ? places.rank_of((places.place - 1) / 2) : MPI_PROC_NULL;
  return send_pipelined(data, count, type, parent, {child(1), child(2)}, comm);
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::bcast> binary_tree{
    "binary_tree", "down a binary tree, in segments of 8 KiB",
    "Pjesivac-Grbovic et al., Performance Analysis of MPI Collective Operations (2007), binary tree",
    binary_tree_call};

}  // namespace hockney::coll::bcast
