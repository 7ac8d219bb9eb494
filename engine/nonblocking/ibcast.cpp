// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"

namespace hockney::nonblocking {
namespace {

class Ibcast final : public StartAndWait<BcastBase> {
 public:
  using StartAndWait::StartAndWait;

  void start(MPI_Request* request) override {
    MPI_Ibcast(incoming_.next(), block_.count, block_.type, root_, comm_.handle, request);
  }
};

constexpr Parameter ibcast_parameters[] = {parameters::bytes("bytes from the root"), parameters::buffers,
                                           parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo ibcast{
    .name = "ibcast",
    .role = "collective",
    .operation = "ibcast",
    .size = "bytes",
    .help = "MPI_Ibcast, then MPI_Wait",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = ibcast_parameters,
    .make = make<Ibcast>,
};

}  // namespace hockney::nonblocking
