// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/exchange_base.hpp"
#include "measure/started.hpp"

namespace hockney::nonblocking {
namespace {

class Ialltoallv final : public StartAndWait<ExchangeBase> {
 public:
  Ialltoallv(const Place& place, const Values& values) : StartAndWait(place, values) {}

  void start(MPI_Request* request) override {
    MPI_Ialltoallv(outgoing_.next(), sent_.counts(), sent_.displacements(), sent_.type(), incoming_.next(),
                   received_.data(), displacements_.data(), sent_.type(), comm_.handle, request);
  }
};

constexpr Parameter ialltoallv_parameters[] = {exchanged_bytes, counts_parameter, parameters::buffers,
                                               parameters::sync};

}  // namespace

extern constinit const WorkloadInfo ialltoallv{
    .name = "ialltoallv",
    .role = "collective",
    .operation = "ialltoallv",
    .size = "bytes",
    .help =
        "MPI_Ialltoallv, then MPI_Wait: every rank sends a block of a different size to each "
        "rank",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = ialltoallv_parameters,
    .make = make<Ialltoallv>,
};

}  // namespace hockney::nonblocking
