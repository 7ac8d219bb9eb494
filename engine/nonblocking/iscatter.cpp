// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"

namespace hockney::nonblocking {
namespace {

class Iscatter final : public StartAndWait<ScatterBase> {
 public:
  using StartAndWait::StartAndWait;

  void start(MPI_Request* request) override {
    MPI_Iscatter(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count, block_.type,
                 root_, comm_.handle, request);
  }
};

constexpr Parameter iscatter_parameters[] = {parameters::bytes("bytes to each rank"), parameters::buffers,
                                             parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo iscatter{
    .name = "iscatter",
    .role = "collective",
    .operation = "iscatter",
    .size = "bytes",
    .help = "MPI_Iscatter, then MPI_Wait",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = iscatter_parameters,
    .make = make<Iscatter>,
};

}  // namespace hockney::nonblocking
