// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"
#include "neighborhood/neighbor_base.hpp"

namespace hockney::neighborhood {
namespace {

class IneighborAlltoall final : public StartAndWait<ExchangeBase> {
 public:
  IneighborAlltoall(const Place& place, const Values& values) : StartAndWait(place, values) {}

  void start(MPI_Request* request) override {
    MPI_Ineighbor_alltoall(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count,
                           block_.type, topology_.handle(), request);
  }
};

constexpr Parameter ineighbor_alltoall_parameters[] = {
    parameters::bytes("bytes of the block that each rank sends to each neighbor"),
    topology_parameter,
    degree_parameter,
    seed_parameter,
    parameters::buffers,
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo ineighbor_alltoall{
    .name = "ineighbor_alltoall",
    .role = "neighborhood",
    .operation = "ineighbor_alltoall",
    .size = "bytes",
    .help =
        "MPI_Ineighbor_alltoall, then MPI_Wait: each rank sends a different block to each "
        "neighbor",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = ineighbor_alltoall_parameters,
    .make = make<IneighborAlltoall>,
};

}  // namespace hockney::neighborhood
