// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/overlapped.hpp"
#include "neighborhood/neighbor_vector.hpp"

namespace hockney::neighborhood {
namespace {

constexpr Parameter overlap_neighbor_parameters[] = {
    {"operation", Kind::choice, "", "ineighbor_alltoall", 0, 0,
     "ineighbor_allgather|ineighbor_allgatherv|ineighbor_alltoall|ineighbor_alltoallv|ineighbor_alltoallw",
     "the collective operation"},
    parameters::bytes("bytes, as in the workload of the operation"),
    counts_of_ranks,
    topology_parameter,
    degree_parameter,
    seed_parameter,
    parameters::buffers,
    computing_parameter,
    duration_parameter,
    tests_parameter,
    parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo overlap_neighbor{
    .name = "overlap_neighbor",
    .role = "overlap",
    .operation = "overlap_neighbor",
    .size = "bytes",
    .help = "a nonblocking neighborhood collective, computation, then MPI_Wait",
    .time = "the total, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = overlap_neighbor_parameters,
    .metrics = overlap_metrics,
    .make = make_overlapped_operation,
};

}  // namespace hockney::neighborhood
