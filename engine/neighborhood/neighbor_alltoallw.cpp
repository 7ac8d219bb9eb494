// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "neighborhood/neighbor_vector.hpp"

namespace hockney::neighborhood {
namespace {

class NeighborAlltoallw final : public ExchangewBase {
 public:
  NeighborAlltoallw(const Place& place, const Values& values) : ExchangewBase(place, values) {}

  void run() override {
    MPI_Neighbor_alltoallw(outgoing_.next(), sent_.counts.data(), sent_bytes_.data(), types_.data(),
                           incoming_.next(), received_.counts.data(), received_bytes_.data(), types_.data(),
                           topology_.handle());
  }
};

constexpr Parameter neighbor_alltoallw_parameters[] = {
    parameters::bytes("mean size of the block that each neighbor receives"),
    counts_of_ranks,
    topology_parameter,
    degree_parameter,
    seed_parameter,
    parameters::buffers,
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo neighbor_alltoallw{
    .name = "neighbor_alltoallw",
    .role = "neighborhood",
    .operation = "neighbor_alltoallw",
    .size = "bytes",
    .help =
        "MPI_Neighbor_alltoallw: like neighbor_alltoallv, with a datatype and a displacement "
        "in bytes for each block",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = neighbor_alltoallw_parameters,
    .make = make<NeighborAlltoallw>,
};

}  // namespace hockney::neighborhood
