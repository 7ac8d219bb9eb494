// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"

namespace hockney::nonblocking {
namespace {

class Ireduce final : public StartAndWait<ReduceBase> {
 public:
  using StartAndWait::StartAndWait;

  void start(MPI_Request* request) override {
    MPI_Ireduce(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), root_, comm_.handle,
                request);
  }
};

constexpr Parameter ireduce_parameters[] = {
    parameters::bytes("bytes of the vector, a multiple of 8", parameters::a_double), parameters::buffers,
    parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo ireduce{
    .name = "ireduce",
    .role = "collective",
    .operation = "ireduce",
    .size = "bytes",
    .help = "MPI_Ireduce, MPI_SUM of doubles, then MPI_Wait",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = ireduce_parameters,
    .make = make<Ireduce>,
};

}  // namespace hockney::nonblocking
