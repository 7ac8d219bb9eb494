// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"
#include "measure/vector_base.hpp"

namespace hockney::nonblocking {
namespace {

class Igatherv final : public StartAndWait<GathervBase> {
 public:
  Igatherv(const Place& place, const Values& values) : StartAndWait(place, values) {}

  void start(MPI_Request* request) override {
    MPI_Igatherv(outgoing_.next(), own_count(), counts_.type(), incoming_.next(), counts_.counts(),
                 counts_.displacements(), counts_.type(), root_, comm_.handle, request);
  }
};

constexpr Parameter igatherv_parameters[] = {mean_bytes, counts_parameter, parameters::buffers,
                                             parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo igatherv{
    .name = "igatherv",
    .role = "collective",
    .operation = "igatherv",
    .size = "bytes",
    .help = "MPI_Igatherv, then MPI_Wait: the root receives all blocks, whose sizes differ",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = igatherv_parameters,
    .make = make<Igatherv>,
};

}  // namespace hockney::nonblocking
