// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "hockney/coll.hpp"

#include "library/coll/calls.hpp"

namespace hockney {
namespace {

// MPI's functions by their usual names, so that they are visible to profilers.
struct Unprofiled {
  static constexpr auto* bcast = &MPI_Bcast;
  static constexpr auto* gather = &MPI_Gather;
  static constexpr auto* scatter = &MPI_Scatter;
  static constexpr auto* reduce = &MPI_Reduce;
  static void seen(int, int, long long) {}
};

}  // namespace
}  // namespace hockney

namespace hockney::coll::inline v1 {

int bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, const Choice& choice) {
  return calls::bcast<Unprofiled>(data, count, type, root, comm, choice);
}

int gather(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
           MPI_Datatype received_type, int root, MPI_Comm comm, const Choice& choice) {
  return calls::gather<Unprofiled>(outgoing, sent, sent_type, incoming, received, received_type, root, comm,
                                   choice);
}

int scatter(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
            MPI_Datatype received_type, int root, MPI_Comm comm, const Choice& choice) {
  return calls::scatter<Unprofiled>(outgoing, sent, sent_type, incoming, received, received_type, root, comm,
                                    choice);
}

int allgather(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
              MPI_Datatype received_type, MPI_Comm comm, const Choice& choice) {
  return calls::exchange<Unprofiled, operation::allgather>(MPI_Allgather, false, outgoing, sent, sent_type,
                                                           incoming, received, received_type, comm, choice);
}

int alltoall(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
             MPI_Datatype received_type, MPI_Comm comm, const Choice& choice) {
  return calls::exchange<Unprofiled, operation::alltoall>(MPI_Alltoall, true, outgoing, sent, sent_type,
                                                          incoming, received, received_type, comm, choice);
}

int reduce(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm comm, const Choice& choice) {
  return calls::reduce<Unprofiled>(outgoing, incoming, count, type, op, root, comm, choice);
}

int allreduce(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
              const Choice& choice) {
  return calls::combine<Unprofiled, operation::allreduce>(MPI_Allreduce, outgoing, incoming, count, type, op,
                                                          comm, choice);
}

int reduce_scatter_block(const void* outgoing, void* incoming, int received, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm, const Choice& choice) {
  return calls::combine<Unprofiled, operation::reduce_scatter_block>(
      MPI_Reduce_scatter_block, outgoing, incoming, received, type, op, comm, choice);
}

int scan(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
         const Choice& choice) {
  return calls::combine<Unprofiled, operation::scan>(MPI_Scan, outgoing, incoming, count, type, op, comm,
                                                     choice);
}

}  // namespace hockney::coll::inline v1
