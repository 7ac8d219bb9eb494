// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"

namespace hockney::nonblocking {
namespace {

class Iscan final : public StartAndWait<ScanBase> {
 public:
  using StartAndWait::StartAndWait;

  void start(MPI_Request* request) override {
    MPI_Iscan(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), comm_.handle, request);
  }
};

constexpr Parameter iscan_parameters[] = {
    parameters::bytes("bytes of the vector, a multiple of 8", parameters::a_double), parameters::buffers,
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo iscan{
    .name = "iscan",
    .role = "collective",
    .operation = "iscan",
    .size = "bytes",
    .help = "MPI_Iscan, MPI_SUM of doubles, then MPI_Wait",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = iscan_parameters,
    .make = make<Iscan>,
};

}  // namespace hockney::nonblocking
