// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::gather {
namespace {

// The root receives in the order of the ranks that follow it.
int linear_call(const void* outgoing, int send_count, MPI_Datatype send_type, void* incoming,
                int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm) {
  const Places places(comm, root);
  if (places.place > 0) return MPI_Send(outgoing, send_count, send_type, root, tag, comm);
  const Blocks blocks(incoming, receive_count, receive_type);
  if (outgoing != MPI_IN_PLACE) copy(Blocks(outgoing, send_count, send_type), 0, blocks, root, 1);
  for (int place = 1; place < places.size; ++place) {
    const int from = places.rank_of(place);
    const int error = MPI_Recv(blocks[from], receive_count, receive_type, from, tag, comm, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::gather> linear{
    "linear", "the root receives from one rank after another",
    "Alexandrov, Ionescu, Schauser, Scheiman, LogGP: Incorporating Long Messages into the LogP Model (1995)",
    linear_call};

}  // namespace hockney::coll::gather
