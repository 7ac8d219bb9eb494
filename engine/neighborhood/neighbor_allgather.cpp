// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "neighborhood/neighbor_base.hpp"

namespace hockney::neighborhood {
namespace {

class NeighborAllgather final : public NeighborBase {
 public:
  NeighborAllgather(const Place& place, const Values& values) : NeighborBase(place, values, false) {}

  void run() override {
    MPI_Neighbor_allgather(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count,
                           block_.type, topology_.handle());
  }

  void fill(const Payload& payload) override {
    write_bytes(outgoing_.upcoming(), payload.shared_by(neighbors()), static_cast<std::uint64_t>(comm_.rank));
    spoil_incoming(payload);
  }

  Check verify(const Payload& payload) override {
    return check_incoming(payload, [](int source) { return static_cast<std::uint64_t>(source); });
  }
};

constexpr Parameter neighbor_allgather_parameters[] = {
    parameters::bytes("bytes of each rank's block, which all its neighbors get"),
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
    .time = "the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = neighbor_allgather_parameters,
    .make = make<NeighborAllgather>,
};

}  // namespace hockney::neighborhood
