// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "coll/algorithm.hpp"
#include "coll/outgoing.hpp"
#include "coll/places.hpp"

namespace hockney::coll::alltoall {
namespace {

// All messages at the same time. Each rank begins with a different partner, so that no rank is the first
// partner of all others.
int linear_call(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
                MPI_Datatype received_type, MPI_Comm comm) {
  const Places at(comm);
  const Blocks to(incoming, received, received_type);
  const Outgoing from(outgoing, sent, sent_type, to, at.size);
  std::vector<MPI_Request> requests;
  requests.reserve(2 * static_cast<std::size_t>(at.size));
  for (int distance = 1; distance < at.size; ++distance) {
    const int source = at.rank_of(at.rank + distance);
    const int error =
        MPI_Irecv(to[source], received, received_type, source, tag, comm, &requests.emplace_back());
    if (error != MPI_SUCCESS) return error;
  }
  for (int distance = 1; distance < at.size; ++distance) {
    const int target = at.rank_of(at.rank - distance);
    const int error = MPI_Isend(from.blocks[target], from.blocks.count, from.blocks.type, target, tag, comm,
                                &requests.emplace_back());
    if (error != MPI_SUCCESS) return error;
  }
  copy(from.blocks, at.rank, to, at.rank, 1);
  return MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::alltoall> linear{
    "linear", "all messages at once, MPI_Isend and MPI_Irecv",
    "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005), 4.3",
    linear_call};

}  // namespace hockney::coll::alltoall
