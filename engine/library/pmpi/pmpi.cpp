// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Replaces MPI's collectives in an unchanged program through the profiling interface: loaded with LD_PRELOAD,
// it selects algorithms by the table in HOCKNEY_CHOICES.
#include <mpi.h>

#include "library/coll/calls.hpp"
#include "library/pmpi/report.hpp"

namespace hockney {
namespace {

struct Profiled {
  static constexpr auto* bcast = &PMPI_Bcast;
  static constexpr auto* gather = &PMPI_Gather;
  static constexpr auto* scatter = &PMPI_Scatter;
  static constexpr auto* reduce = &PMPI_Reduce;
  static constexpr auto* barrier = &PMPI_Barrier;
  static void seen(int operation, int algorithm, long long bytes) { count_call(operation, algorithm, bytes); }
};

}  // namespace
}  // namespace hockney

#define HOCKNEY_EXPORTED extern "C" __attribute__((visibility("default"))) int

HOCKNEY_EXPORTED MPI_Barrier(MPI_Comm comm) {
  return hockney::calls::barrier<hockney::Profiled>(comm);
}

HOCKNEY_EXPORTED MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return hockney::calls::bcast<hockney::Profiled>(data, count, type, root, comm, {});
}

HOCKNEY_EXPORTED MPI_Gather(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming,
                            int received, MPI_Datatype received_type, int root, MPI_Comm comm) {
  return hockney::calls::gather<hockney::Profiled>(outgoing, sent, sent_type, incoming, received,
                                                   received_type, root, comm, {});
}

HOCKNEY_EXPORTED MPI_Scatter(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming,
                             int received, MPI_Datatype received_type, int root, MPI_Comm comm) {
  return hockney::calls::scatter<hockney::Profiled>(outgoing, sent, sent_type, incoming, received,
                                                    received_type, root, comm, {});
}

HOCKNEY_EXPORTED MPI_Allgather(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming,
                               int received, MPI_Datatype received_type, MPI_Comm comm) {
  return hockney::calls::exchange<hockney::Profiled, hockney::operation::allgather>(
      PMPI_Allgather, false, outgoing, sent, sent_type, incoming, received, received_type, comm, {});
}

HOCKNEY_EXPORTED MPI_Alltoall(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming,
                              int received, MPI_Datatype received_type, MPI_Comm comm) {
  return hockney::calls::exchange<hockney::Profiled, hockney::operation::alltoall>(
      PMPI_Alltoall, true, outgoing, sent, sent_type, incoming, received, received_type, comm, {});
}

HOCKNEY_EXPORTED MPI_Reduce(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op,
                            int root, MPI_Comm comm) {
  return hockney::calls::reduce<hockney::Profiled>(outgoing, incoming, count, type, op, root, comm, {});
}

HOCKNEY_EXPORTED MPI_Allreduce(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op,
                               MPI_Comm comm) {
  return hockney::calls::combine<hockney::Profiled, hockney::operation::allreduce>(
      PMPI_Allreduce, outgoing, incoming, count, type, op, comm, {});
}

HOCKNEY_EXPORTED MPI_Reduce_scatter_block(const void* outgoing, void* incoming, int received,
                                          MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return hockney::calls::combine<hockney::Profiled, hockney::operation::reduce_scatter_block>(
      PMPI_Reduce_scatter_block, outgoing, incoming, received, type, op, comm, {});
}

HOCKNEY_EXPORTED MPI_Scan(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm) {
  return hockney::calls::combine<hockney::Profiled, hockney::operation::scan>(PMPI_Scan, outgoing, incoming,
                                                                              count, type, op, comm, {});
}

HOCKNEY_EXPORTED MPI_Finalize() {
  hockney::write_report();
  return PMPI_Finalize();
}
