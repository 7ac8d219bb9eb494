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
    parameters::bytes("as the operation's own"),
    counts_of_ranks,
    topology_parameter,
    degree_parameter,
    seed_parameter,
    parameters::buffers,
    computing_parameter,
    tests_parameter,
    parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo overlap_neighbor{
    .name = "overlap_neighbor",
    .role = "overlap",
    .operation = "overlap_neighbor",
    .size = "bytes",
    .help = "a neighborhood collective that is started, computing, then MPI_Wait",
    .time = "all of it, the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = overlap_neighbor_parameters,
    .metrics = overlap_metrics,
    .make = [](const Place& place, const Values& values) -> std::unique_ptr<Workload> {
      return std::make_unique<Overlapped>(place, values, values.word("operation"));
    },
};

}  // namespace hockney::neighborhood
