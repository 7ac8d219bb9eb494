// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::scatter {
namespace {

int linear_call(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
                MPI_Datatype received_type, int root, MPI_Comm comm) {
  const Places at(comm, root);
  if (at.place > 0) return MPI_Recv(incoming, received, received_type, root, tag, comm, MPI_STATUS_IGNORE);
  const Blocks blocks(outgoing, sent, sent_type);
  for (int place = 1; place < at.size; ++place) {
    const int to = at.rank_of(place);
    const int error = MPI_Send(blocks[to], sent, sent_type, to, tag, comm);
    if (error != MPI_SUCCESS) return error;
  }
  if (incoming != MPI_IN_PLACE) copy(blocks, root, Blocks(incoming, received, received_type), 0, 1);
  return MPI_SUCCESS;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::scatter> linear{
    "linear", "the root sends to one rank after another",
    "Alexandrov, Ionescu, Schauser, Scheiman, LogGP: Incorporating Long Messages into the LogP Model (1995)",
    linear_call};

}  // namespace hockney::coll::scatter
