// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"

namespace hockney::nonblocking {
namespace {

class Ialltoall final : public StartAndWait<AlltoallBase> {
 public:
  using StartAndWait::StartAndWait;

  void start(MPI_Request* request) override {
    MPI_Ialltoall(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count, block_.type,
                  comm_.handle, request);
  }
};

constexpr Parameter ialltoall_parameters[] = {parameters::bytes("bytes from each rank to each rank"),
                                              parameters::buffers, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo ialltoall{
    .name = "ialltoall",
    .role = "collective",
    .operation = "ialltoall",
    .size = "bytes",
    .help = "MPI_Ialltoall, then MPI_Wait",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = ialltoall_parameters,
    .make = make<Ialltoall>,
};

}  // namespace hockney::nonblocking
