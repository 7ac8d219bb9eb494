// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/counts.hpp"
#include "measure/overlapped.hpp"

namespace hockney::nonblocking {
namespace {

constexpr Parameter overlap_vector_parameters[] = {
    {"operation", Kind::choice, "", "iallgatherv", 0, 0,
     "iallgatherv|ialltoallv|ialltoallw|igatherv|ireduce_scatter|iscatterv", "the collective operation"},
    parameters::bytes("bytes, as in the workload of the operation; a multiple of 8 for reductions",
                      "operation"),
    counts_parameter,
    parameters::buffers,
    parameters::root,
    computing_parameter,
    duration_parameter,
    tests_parameter,
    parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo overlap_vector{
    .name = "overlap_vector",
    .role = "overlap",
    .operation = "overlap_vector",
    .size = "bytes",
    .help = "a nonblocking collective with a count for each rank, computation, then MPI_Wait",
    .time = "the total, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = overlap_vector_parameters,
    .metrics = overlap_metrics,
    .make = make_overlapped_operation,
};

}  // namespace hockney::nonblocking
