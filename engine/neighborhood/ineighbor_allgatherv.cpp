// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"
#include "neighborhood/neighbor_vector.hpp"

namespace hockney::neighborhood {
namespace {

class IneighborAllgatherv final : public StartAndWait<GathervBase> {
 public:
  IneighborAllgatherv(const Place& place, const Values& values) : StartAndWait(place, values) {}

  void start(MPI_Request* request) override {
    MPI_Ineighbor_allgatherv(outgoing_.next(), counts_.count(comm_.rank), counts_.type(), incoming_.next(),
                             received_.counts.data(), received_.displacements.data(), counts_.type(),
                             topology_.handle(), request);
  }
};

constexpr Parameter ineighbor_allgatherv_parameters[] = {
    parameters::bytes("mean size of a rank's block, which it sends to all its neighbors"),
    counts_of_ranks,
    topology_parameter,
    degree_parameter,
    seed_parameter,
    parameters::buffers,
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo ineighbor_allgatherv{
    .name = "ineighbor_allgatherv",
    .role = "neighborhood",
    .operation = "ineighbor_allgatherv",
    .size = "bytes",
    .help =
        "MPI_Ineighbor_allgatherv, then MPI_Wait: each rank sends its block to all its "
        "neighbors; block sizes differ between ranks",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = ineighbor_allgatherv_parameters,
    .make = make<IneighborAllgatherv>,
};

}  // namespace hockney::neighborhood
