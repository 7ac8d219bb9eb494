// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "io/files.hpp"
#include "measure/overlapped.hpp"

namespace hockney::io {
namespace {

constexpr Parameter overlap_file_parameters[] = {
    {"operation", Kind::choice, "", "file_write", 0, 0, "file_read|file_write", "reading or writing"},
    parameters::bytes("bytes, as in the workload of the operation"),
    file,
    calls,
    pointer,
    computing_parameter,
    duration_parameter,
    tests_parameter,
    parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo overlap_file{
    .name = "overlap_file",
    .role = "overlap",
    .operation = "overlap_file",
    .size = "bytes",
    .help = "a nonblocking read or write of a file, computation, then MPI_Wait",
    .time = "the total, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = overlap_file_parameters,
    .metrics = overlap_metrics,
    .make = make_overlapped_operation,
};

}  // namespace hockney::io
