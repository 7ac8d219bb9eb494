// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/counts.hpp"
#include "measure/overlapped.hpp"

namespace hockney::nonblocking {
namespace {

constexpr Parameter overlap_vector_parameters[] = {
    {"operation", Kind::choice, "", "iallgatherv", 0, 0,
     "iallgatherv|ialltoallv|ialltoallw|igatherv|ireduce_scatter|iscatterv", "the collective operation"},
    parameters::bytes("as the operation's own, a multiple of 8 where it sums"),
    counts_parameter,
    parameters::buffers,
    parameters::root,
    computing_parameter,
    tests_parameter,
    parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo overlap_vector{
    .name = "overlap_vector",
    .role = "overlap",
    .operation = "overlap_vector",
    .size = "bytes",
    .help = "a collective whose blocks differ in size that is started, computing, then MPI_Wait",
    .time = "all of it, the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = overlap_vector_parameters,
    .metrics = overlap_metrics,
    .make = [](const Place& place, const Values& values) -> std::unique_ptr<Workload> {
      return std::make_unique<Overlapped>(place, values, values.word("operation"));
    },
};

}  // namespace hockney::nonblocking
