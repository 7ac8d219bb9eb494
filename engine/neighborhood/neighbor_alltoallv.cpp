// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "neighborhood/neighbor_vector.hpp"

namespace hockney::neighborhood {
namespace {

class NeighborAlltoallv final : public ExchangevBase {
 public:
  NeighborAlltoallv(const Place& place, const Values& values) : ExchangevBase(place, values) {}

  void run() override {
    MPI_Neighbor_alltoallv(outgoing_.next(), sent_.counts.data(), sent_.displacements.data(), counts_.type(),
                           incoming_.next(), received_.counts.data(), received_.displacements.data(),
                           counts_.type(), topology_.handle());
  }
};

constexpr Parameter neighbor_alltoallv_parameters[] = {
    parameters::bytes("mean size of the block that each neighbor receives"),
    counts_of_ranks,
    topology_parameter,
    degree_parameter,
    seed_parameter,
    parameters::buffers,
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo neighbor_alltoallv{
    .name = "neighbor_alltoallv",
    .role = "neighborhood",
    .operation = "neighbor_alltoallv",
    .size = "bytes",
    .help = "MPI_Neighbor_alltoallv: each rank sends a block of a different size to each neighbor",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = neighbor_alltoallv_parameters,
    .make = make<NeighborAlltoallv>,
};

}  // namespace hockney::neighborhood
