// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"
#include "neighborhood/neighbor_base.hpp"

namespace hockney::neighborhood {
namespace {

class IneighborAllgather final : public StartAndWait<GatherBase> {
 public:
  IneighborAllgather(const Place& place, const Values& values) : StartAndWait(place, values) {}

  void start(MPI_Request* request) override {
    MPI_Ineighbor_allgather(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count,
                            block_.type, topology_.handle(), request);
  }
};

constexpr Parameter ineighbor_allgather_parameters[] = {
    parameters::bytes("bytes of each rank's block, which it sends to all its neighbors"),
    topology_parameter,
    degree_parameter,
    seed_parameter,
    parameters::buffers,
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo ineighbor_allgather{
    .name = "ineighbor_allgather",
    .role = "neighborhood",
    .operation = "ineighbor_allgather",
    .size = "bytes",
    .help = "MPI_Ineighbor_allgather, then MPI_Wait: each rank sends the same block to all its neighbors",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = ineighbor_allgather_parameters,
    .make = make<IneighborAllgather>,
};

}  // namespace hockney::neighborhood
