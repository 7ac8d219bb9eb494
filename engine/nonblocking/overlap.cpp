// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/counts.hpp"
#include "measure/overlapped.hpp"

namespace hockney::nonblocking {
namespace {

constexpr Parameter overlap_parameters[] = {
    {"operation", Kind::choice, "", "iallreduce", 0, 0,
     "iallgather|iallreduce|ialltoall|ibcast|iexscan|igather|ireduce|ireduce_scatter_block|iscan|iscatter",
     "the nonblocking collective"},
    operation_bytes,
    parameters::buffers,
    parameters::root,
    computing_parameter,
    duration_parameter,
    tests_parameter,
    parameters::sync_each};

constexpr Parameter overlap_vector_parameters[] = {
    {"operation", Kind::choice, "", "iallgatherv", 0, 0,
     "iallgatherv|ialltoallv|ialltoallw|igatherv|ireduce_scatter|iscatterv", "the collective operation"},
    operation_bytes,
    counts_parameter,
    parameters::buffers,
    parameters::root,
    computing_parameter,
    duration_parameter,
    tests_parameter,
    parameters::sync_each};

constexpr Parameter overlap_ibarrier_parameters[] = {computing_parameter, duration_parameter, tests_parameter,
                                                     parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo overlap =
    overlap_info("overlap", "a nonblocking collective, computation, then MPI_Wait", overlap_parameters);
extern constinit const WorkloadInfo overlap_vector = overlap_info(
    "overlap_vector", "a nonblocking collective with a count for each rank, computation, then MPI_Wait",
    overlap_vector_parameters);
extern constinit const WorkloadInfo overlap_ibarrier{
    .name = "overlap_ibarrier",
    .role = "overlap",
    .operation = "ibarrier",
    .help = "MPI_Ibarrier, computation, then MPI_Wait",
    .time = "the total, the maximum over the ranks",
    .parameters = overlap_ibarrier_parameters,
    .metrics = overlap_metrics,
    .make = [](const Place& place, const Values& values) -> std::unique_ptr<Workload> {
      return make_overlapped(place, values, "ibarrier");
    },
};

}  // namespace hockney::nonblocking
