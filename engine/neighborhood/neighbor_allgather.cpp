// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "neighborhood/neighbor_base.hpp"

namespace hockney::neighborhood {
namespace {

class NeighborAllgather final : public GatherBase {
 public:
  NeighborAllgather(const Place& place, const Values& values) : GatherBase(place, values) {}

  void run() override {
    MPI_Neighbor_allgather(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count,
                           block_.type, topology_.handle());
  }
};

constexpr Parameter neighbor_allgather_parameters[] = {
    parameters::bytes("bytes of each rank's block, which it sends to all its neighbors"),
    topology_parameter,
    degree_parameter,
    seed_parameter,
    parameters::buffers,
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo neighbor_allgather{
    .name = "neighbor_allgather",
    .role = "neighborhood",
    .operation = "neighbor_allgather",
    .size = "bytes",
    .help = "MPI_Neighbor_allgather: each rank sends the same block to all its neighbors",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = neighbor_allgather_parameters,
    .make = make<NeighborAllgather>,
};

}  // namespace hockney::neighborhood
