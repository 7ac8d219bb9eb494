// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"

namespace hockney::nonblocking {
namespace {

class Iallgather final : public StartAndWait<AllgatherBase> {
 public:
  using StartAndWait::StartAndWait;

  void start(MPI_Request* request) override {
    MPI_Iallgather(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count, block_.type,
                   comm_.handle, request);
  }
};

constexpr Parameter iallgather_parameters[] = {parameters::bytes("bytes from each rank"), parameters::buffers,
                                               parameters::sync};

}  // namespace

extern constinit const WorkloadInfo iallgather{
    .name = "iallgather",
    .role = "collective",
    .operation = "iallgather",
    .size = "bytes",
    .help = "MPI_Iallgather, then MPI_Wait",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = iallgather_parameters,
    .make = make<Iallgather>,
};

}  // namespace hockney::nonblocking
