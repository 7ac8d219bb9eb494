// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "neighborhood/neighbor_vector.hpp"

namespace hockney::neighborhood {
namespace {

class NeighborAllgatherv final : public GathervBase {
 public:
  NeighborAllgatherv(const Place& place, const Values& values) : GathervBase(place, values) {}

  void run() override {
    MPI_Neighbor_allgatherv(outgoing_.next(), counts_.count(comm_.rank), counts_.type(), incoming_.next(),
                            received_.counts.data(), received_.displacements.data(), counts_.type(),
                            topology_.handle());
  }
};

constexpr Parameter neighbor_allgatherv_parameters[] = {
    parameters::bytes("mean size of a rank's block, which it sends to all its neighbors"),
    counts_of_ranks,
    topology_parameter,
    degree_parameter,
    seed_parameter,
    parameters::buffers,
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo neighbor_allgatherv{
    .name = "neighbor_allgatherv",
    .role = "neighborhood",
    .operation = "neighbor_allgatherv",
    .size = "bytes",
    .help =
        "MPI_Neighbor_allgatherv: each rank sends its block to all its neighbors; block "
        "sizes differ between ranks",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = neighbor_allgatherv_parameters,
    .make = make<NeighborAllgatherv>,
};

}  // namespace hockney::neighborhood
