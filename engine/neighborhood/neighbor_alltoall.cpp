// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "neighborhood/neighbor_base.hpp"

namespace hockney::neighborhood {
namespace {

class NeighborAlltoall final : public ExchangeBase {
 public:
  NeighborAlltoall(const Place& place, const Values& values) : ExchangeBase(place, values) {}

  void run() override {
    MPI_Neighbor_alltoall(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count,
                          block_.type, topology_.handle());
  }
};

constexpr Parameter neighbor_alltoall_parameters[] = {
    parameters::bytes("bytes of the block that each rank sends to each neighbor"),
    topology_parameter,
    degree_parameter,
    seed_parameter,
    parameters::buffers,
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo neighbor_alltoall{
    .name = "neighbor_alltoall",
    .role = "neighborhood",
    .operation = "neighbor_alltoall",
    .size = "bytes",
    .help = "MPI_Neighbor_alltoall: each rank sends a different block to each neighbor",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = neighbor_alltoall_parameters,
    .make = make<NeighborAlltoall>,
};

}  // namespace hockney::neighborhood
