// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"
#include "measure/vector_base.hpp"

namespace hockney::nonblocking {
namespace {

class Iscatterv final : public StartAndWait<ScattervBase> {
 public:
  Iscatterv(const Place& place, const Values& values) : StartAndWait(place, values) {}

  void start(MPI_Request* request) override {
    MPI_Iscatterv(outgoing_.next(), counts_.counts(), counts_.displacements(), counts_.type(),
                  incoming_.next(), own_count(), counts_.type(), root_, comm_.handle, request);
  }
};

constexpr Parameter iscatterv_parameters[] = {mean_bytes, counts_parameter, parameters::buffers,
                                              parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo iscatterv{
    .name = "iscatterv",
    .role = "collective",
    .operation = "iscatterv",
    .size = "bytes",
    .help = "MPI_Iscatterv, then MPI_Wait: the root sends each rank a block of a different size",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = iscatterv_parameters,
    .make = make<Iscatterv>,
};

}  // namespace hockney::nonblocking
