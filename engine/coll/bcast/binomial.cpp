// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"

namespace hockney::coll::bcast {
namespace {

// Ranks are numbered from the root. Rank r receives from r without its lowest one bit, and sends to r plus
// each lower power of two, the furthest first: ceil(log2 P) steps.
int call(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int place = (rank - root + size) % size;
  long bit = 1;
  for (; bit < size; bit <<= 1) {
    if (!(place & bit)) continue;
    const int parent = static_cast<int>((place - bit + root) % size);
    const int error = MPI_Recv(data, count, type, parent, tag, comm, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
    break;
  }
  for (bit >>= 1; bit > 0; bit >>= 1) {
    if (place + bit >= size) continue;
    const int child = static_cast<int>((place + bit + root) % size);
    const int error = MPI_Send(data, count, type, child, tag, comm);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::bcast> binomial{
    "binomial", "down a binomial tree of whole messages",
    "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005), 4.2",
    call};

}  // namespace hockney::coll::bcast
