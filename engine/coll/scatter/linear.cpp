// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::scatter {
namespace {

int linear_call(const void* outgoing, int send_count, MPI_Datatype send_type, void* incoming,
                int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm) {
  const Places places(comm, root);
  if (places.place > 0)
    return MPI_Recv(incoming, receive_count, receive_type, root, tag, comm, MPI_STATUS_IGNORE);
  const Blocks blocks(outgoing, send_count, send_type);
  for (int place = 1; place < places.size; ++place) {
    const int to = places.rank_of(place);
    const int error = MPI_Send(blocks[to], send_count, send_type, to, tag, comm);
    if (error != MPI_SUCCESS) return error;
  }
  if (incoming != MPI_IN_PLACE) copy(blocks, root, Blocks(incoming, receive_count, receive_type), 0, 1);
  return MPI_SUCCESS;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::scatter> linear{
    "linear", "the root sends to one rank after another",
    "Alexandrov, Ionescu, Schauser, Scheiman, LogGP: Incorporating Long Messages into the LogP Model (1995)",
    linear_call};

}  // namespace hockney::coll::scatter
