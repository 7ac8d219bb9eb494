// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "coll/algorithm.hpp"
#include "coll/outgoing.hpp"
#include "coll/places.hpp"

namespace hockney::coll::alltoall {
namespace {

// Sends all messages at the same time. Each rank begins with a different partner, so that no rank is the
// first partner of all others.
int linear_call(const void* outgoing, int send_count, MPI_Datatype send_type, void* incoming,
                int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
  const Places places(comm);
  const Blocks to(incoming, receive_count, receive_type);
  const Outgoing from(outgoing, send_count, send_type, to, places.size);
  std::vector<MPI_Request> requests;
  requests.reserve(2 * static_cast<std::size_t>(places.size));
  for (int distance = 1; distance < places.size; ++distance) {
    const int source = places.rank_of(places.rank + distance);
    const int error =
        MPI_Irecv(to[source], receive_count, receive_type, source, tag, comm, &requests.emplace_back());
    if (error != MPI_SUCCESS) return error;
  }
  for (int distance = 1; distance < places.size; ++distance) {
    const int target = places.rank_of(places.rank - distance);
    const int error = MPI_Isend(from.blocks[target], from.blocks.count, from.blocks.type, target, tag, comm,
                                &requests.emplace_back());
    if (error != MPI_SUCCESS) return error;
  }
  copy(from.blocks, places.rank, to, places.rank, 1);
  return MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::alltoall> linear{
    "linear", "all messages at once, MPI_Isend and MPI_Irecv",
    "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005), 4.3",
    linear_call};

}  // namespace hockney::coll::alltoall
