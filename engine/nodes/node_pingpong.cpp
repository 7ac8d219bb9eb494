// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "nodes/pairing.hpp"

namespace hockney::nodes {
namespace {

class NodePingPong final : public PairingBase {
 public:
  NodePingPong(const Place& place, const Values& values) : PairingBase(place, values, 1) {}

  double operations() const override { return 2; }

 private:
  double exchange() override {
    std::byte* const out = outgoing_.next();
    std::byte* const in = incoming_.next();
    if (lower()) {
      MPI_Send(out, block_.count, block_.type, partner_, tag, comm_.handle);
      MPI_Recv(in, block_.count, block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, block_.count, block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
      MPI_Send(out, block_.count, block_.type, partner_, tag, comm_.handle);
    }
    return 0;
  }
  // The rank that replies does not see the whole of the last round trip.
  double timed_messages() const override { return lower() ? 2 : 0; }
};

constexpr Parameter node_pingpong_parameters[] = {parameters::bytes("bytes in each message"), partners,
                                                  at_once, tournaments, parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo node_pingpong{
    .name = "node_pingpong",
    .role = "nodes",
    .operation = "send",
    .size = "bytes",
    .help = "ping-pongs of disjoint pairs, with other partners in every repetition",
    .time =
        "one direction: half a round trip, the maximum over the pairs, with one more exchange per repetition",
    .min_ranks = 2,
    .parameters = node_pingpong_parameters,
    .metrics = pairing_metrics,
    .make = make<NodePingPong>,
};

}  // namespace hockney::nodes
