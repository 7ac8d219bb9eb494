// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"

namespace hockney::nonblocking {
namespace {

class Igather final : public StartAndWait<GatherBase> {
 public:
  using StartAndWait::StartAndWait;

  void start(MPI_Request* request) override {
    MPI_Igather(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count, block_.type,
                root_, comm_.handle, request);
  }
};

constexpr Parameter igather_parameters[] = {parameters::bytes("bytes from each rank"), parameters::buffers,
                                            parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo igather{
    .name = "igather",
    .role = "collective",
    .operation = "igather",
    .size = "bytes",
    .help = "MPI_Igather, then MPI_Wait",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = igather_parameters,
    .make = make<Igather>,
};

}  // namespace hockney::nonblocking
