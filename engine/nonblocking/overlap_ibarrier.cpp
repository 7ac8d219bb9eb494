// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/overlapped.hpp"

namespace hockney::nonblocking {
namespace {

constexpr Parameter overlap_ibarrier_parameters[] = {computing_parameter, duration_parameter, tests_parameter,
                                                     parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo overlap_ibarrier{
    .name = "overlap_ibarrier",
    .role = "overlap",
    .operation = "ibarrier",
    .help = "MPI_Ibarrier, computation, then MPI_Wait",
    .time = "the total, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = overlap_ibarrier_parameters,
    .metrics = overlap_metrics,
    .make = [](const Place& place, const Values& values) -> std::unique_ptr<Workload> {
      return make_overlapped(place, values, "ibarrier");
    },
};

}  // namespace hockney::nonblocking
