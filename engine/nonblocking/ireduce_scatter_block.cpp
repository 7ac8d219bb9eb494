// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"

namespace hockney::nonblocking {
namespace {

class IreduceScatterBlock final : public StartAndWait<ReduceScatterBlockBase> {
 public:
  using StartAndWait::StartAndWait;

  void start(MPI_Request* request) override {
    MPI_Ireduce_scatter_block(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), comm_.handle,
                              request);
  }
};

constexpr Parameter ireduce_scatter_block_parameters[] = {
    parameters::bytes("bytes of the block that each rank receives, a multiple of 8", parameters::a_double),
    parameters::buffers, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo ireduce_scatter_block{
    .name = "ireduce_scatter_block",
    .role = "collective",
    .operation = "ireduce_scatter_block",
    .size = "bytes",
    .help = "MPI_Ireduce_scatter_block, MPI_SUM of doubles, then MPI_Wait",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = ireduce_scatter_block_parameters,
    .make = make<IreduceScatterBlock>,
};

}  // namespace hockney::nonblocking
