// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/overlapped.hpp"

namespace hockney::nonblocking {
namespace {

constexpr Parameter overlap_parameters[] = {
    {"operation", Kind::choice, "", "iallreduce", 0, 0,
     "iallgather|iallreduce|ialltoall|ibcast|iexscan|igather|ireduce|ireduce_scatter_block|iscan|iscatter",
     "the nonblocking collective"},
    parameters::bytes("bytes, as in the workload of the operation; a multiple of 8 for reductions",
                      "operation"),
    parameters::buffers,
    parameters::root,
    computing_parameter,
    duration_parameter,
    tests_parameter,
    parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo overlap{
    .name = "overlap",
    .role = "overlap",
    .operation = "overlap",
    .size = "bytes",
    .help = "a nonblocking collective, computation, then MPI_Wait",
    .time = "the total, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = overlap_parameters,
    .metrics = overlap_metrics,
    .make = make_overlapped_operation,
};

}  // namespace hockney::nonblocking
