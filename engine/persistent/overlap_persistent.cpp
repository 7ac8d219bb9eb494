// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/counts.hpp"
#include "measure/overlapped.hpp"
#include "persistent/prepared.hpp"

namespace hockney::persistent {
namespace {

constexpr Parameter overlap_persistent_parameters[] = {
    {"operation", Kind::choice, "", "bcast_persistent", 0, 0,
     "allgather_persistent|allgatherv_persistent|allreduce_persistent|alltoall_persistent|"
     "alltoallv_persistent|alltoallw_persistent|bcast_persistent|gather_persistent|gatherv_persistent|"
     "reduce_persistent|reduce_scatter_persistent|scatter_persistent|scatterv_persistent",
     "the collective operation"},
    parameters::bytes("bytes, as in the workload of the operation; a multiple of 8 for reductions",
                      "operation"),
    counts_parameter,
    one_buffer,
    parameters::root,
    computing_parameter,
    duration_parameter,
    tests_parameter,
    parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo overlap_persistent{
    .name = "overlap_persistent",
    .role = "overlap",
    .operation = "overlap_persistent",
    .size = "bytes",
    .help = "a persistent collective: MPI_Start, computation, then MPI_Wait",
    .time = "the total, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = overlap_persistent_parameters,
    .metrics = overlap_metrics,
    .make = make_overlapped_operation,
};

}  // namespace hockney::persistent
