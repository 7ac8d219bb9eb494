// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"
#include "neighborhood/neighbor_vector.hpp"

namespace hockney::neighborhood {
namespace {

class IneighborAlltoallv final : public StartAndWait<ExchangevBase> {
 public:
  IneighborAlltoallv(const Place& place, const Values& values) : StartAndWait(place, values) {}

  void start(MPI_Request* request) override {
    MPI_Ineighbor_alltoallv(outgoing_.next(), sent_.counts.data(), sent_.displacements.data(), counts_.type(),
                            incoming_.next(), received_.counts.data(), received_.displacements.data(),
                            counts_.type(), topology_.handle(), request);
  }
};

constexpr Parameter ineighbor_alltoallv_parameters[] = {
    parameters::bytes("mean size of the block that each neighbor receives"),
    counts_of_ranks,
    topology_parameter,
    degree_parameter,
    seed_parameter,
    parameters::buffers,
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo ineighbor_alltoallv{
    .name = "ineighbor_alltoallv",
    .role = "neighborhood",
    .operation = "ineighbor_alltoallv",
    .size = "bytes",
    .help =
        "MPI_Ineighbor_alltoallv, then MPI_Wait: each rank sends a block of a different size "
        "to each neighbor",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = ineighbor_alltoallv_parameters,
    .make = make<IneighborAlltoallv>,
};

}  // namespace hockney::neighborhood
