// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"
#include "neighborhood/neighbor_vector.hpp"

namespace hockney::neighborhood {
namespace {

class IneighborAlltoallw final : public StartAndWait<ExchangewBase> {
 public:
  IneighborAlltoallw(const Place& place, const Values& values) : StartAndWait(place, values) {}

  void start(MPI_Request* request) override {
    MPI_Ineighbor_alltoallw(outgoing_.next(), sent_.counts.data(), sent_bytes_.data(), types_.data(),
                            incoming_.next(), received_.counts.data(), received_bytes_.data(), types_.data(),
                            topology_.handle(), request);
  }
};

constexpr Parameter ineighbor_alltoallw_parameters[] = {
    parameters::bytes("mean size of the block that each neighbor receives"),
    counts_of_ranks,
    topology_parameter,
    degree_parameter,
    seed_parameter,
    parameters::buffers,
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo ineighbor_alltoallw{
    .name = "ineighbor_alltoallw",
    .role = "neighborhood",
    .operation = "ineighbor_alltoallw",
    .size = "bytes",
    .help =
        "MPI_Ineighbor_alltoallw, then MPI_Wait: like neighbor_alltoallv, with a datatype "
        "and a displacement in bytes for each block",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = ineighbor_alltoallw_parameters,
    .make = make<IneighborAlltoallw>,
};

}  // namespace hockney::neighborhood
