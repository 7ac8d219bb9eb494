// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/pair_base.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

// The base line of Krishnamurthy (1998): the cost of one message with a non-blocking send and a blocking
// receive.
class IsendRecv final : public PairBase {
 public:
  using PairBase::PairBase;

  void run() override {
    std::byte* const out = outgoing_.next();
    std::byte* const in = incoming_.next();
    MPI_Request request;
    if (first()) {
      MPI_Isend(out, block_.count, block_.type, partner_, tag, comm_.handle, &request);
      MPI_Recv(in, block_.count, block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, block_.count, block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
      MPI_Isend(out, block_.count, block_.type, partner_, tag, comm_.handle, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  double operations() const override { return 2; }
};

constexpr Parameter isend_recv_parameters[] = {parameters::bytes("bytes in each message"),
                                               parameters::buffers};

}  // namespace

extern constinit const WorkloadInfo isend_recv{
    .name = "isend_recv",
    .role = "point-to-point",
    .operation = "isend",
    .size = "bytes",
    .help = "ping-pong of MPI_Isend and MPI_Recv, then MPI_Wait",
    .time = "one message: half a round trip",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = isend_recv_parameters,
    .make = make<IsendRecv>,
};

}  // namespace hockney::patterns
