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
    operation_bytes,
    counts_parameter,
    one_buffer,
    parameters::root,
    computing_parameter,
    duration_parameter,
    tests_parameter,
    parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo overlap_persistent =
    overlap_info("overlap_persistent", "a persistent collective: MPI_Start, computation, then MPI_Wait",
                 overlap_persistent_parameters);

}  // namespace hockney::persistent
