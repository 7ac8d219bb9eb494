// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "neighborhood/neighbor_base.hpp"

namespace hockney::neighborhood {
namespace {

class NeighborAlltoall final : public NeighborBase {
 public:
  NeighborAlltoall(const Place& place, const Values& values) : NeighborBase(place, values, true) {}

  void run() override {
    MPI_Neighbor_alltoall(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count,
                          block_.type, topology_.handle());
  }

  // Each pair of ranks has a separate payload. If there are two blocks between the same ranks, as on a torus
  // of two ranks, both carry the same payload, because MPI before 4.0 did not define their order.
  void fill(const Payload& payload) override {
    for (std::size_t at = 0; at < neighbors(); ++at)
      write_bytes(block(outgoing_.upcoming(), at), payload.shared_by(neighbors()),
                  channel(comm_, comm_.rank, topology_.destinations()[at]));
    spoil_incoming(payload);
  }

  Check verify(const Payload& payload) override {
    return check_incoming(payload, [this](int source) { return channel(comm_, source, comm_.rank); });
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
    .help = "MPI_Neighbor_alltoall: each rank sends each neighbor another block",
    .time = "the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = neighbor_alltoall_parameters,
    .make = make<NeighborAlltoall>,
};

}  // namespace hockney::neighborhood
