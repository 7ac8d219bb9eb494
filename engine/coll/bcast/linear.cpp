// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/places.hpp"

namespace hockney::coll::bcast {
namespace {

int linear_call(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const Places places(comm, root);
  if (places.place > 0) return MPI_Recv(data, count, type, root, tag, comm, MPI_STATUS_IGNORE);
  for (int place = 1; place < places.size; ++place) {
    const int error = MPI_Send(data, count, type, places.rank_of(place), tag, comm);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::bcast> linear{
    "linear", "the root sends to one rank after another",
    "Pjesivac-Grbovic et al., Performance Analysis of MPI Collective Operations (2007), flat tree",
    linear_call};

}  // namespace hockney::coll::bcast
