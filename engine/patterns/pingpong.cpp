// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/pair_base.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class PingPong final : public PairBase {
 public:
  using PairBase::PairBase;

  void run() override {
    std::byte* const out = outgoing_.next();
    std::byte* const in = incoming_.next();
    if (first()) {
      MPI_Send(out, block_.count, block_.type, partner_, tag, comm_.handle);
      MPI_Recv(in, block_.count, block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, block_.count, block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
      MPI_Send(out, block_.count, block_.type, partner_, tag, comm_.handle);
    }
  }

  double operations() const override { return 2; }
};

constexpr Parameter pingpong_parameters[] = {parameters::bytes("bytes in each message"), parameters::buffers};

}  // namespace

extern constinit const WorkloadInfo pingpong{
    .name = "pingpong",
    .role = "point-to-point",
    .operation = "send",
    .size = "bytes",
    .help = "a message to the other rank and one back, with MPI_Send and MPI_Recv",
    .time = "one direction: half a round trip",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = pingpong_parameters,
    .make = make<PingPong>,
};

}  // namespace hockney::patterns
