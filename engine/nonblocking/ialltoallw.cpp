// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/exchange_base.hpp"
#include "measure/started.hpp"

namespace hockney::nonblocking {
namespace {

class Ialltoallw final : public StartAndWait<TypedExchangeBase> {
 public:
  Ialltoallw(const Place& place, const Values& values) : StartAndWait(place, values) {}

  void start(MPI_Request* request) override {
    MPI_Ialltoallw(outgoing_.next(), sent_.counts(), sent_.displacements(), types_.data(), incoming_.next(),
                   received_.data(), displacements_.data(), types_.data(), comm_.handle, request);
  }
};

constexpr Parameter ialltoallw_parameters[] = {exchanged_bytes, counts_parameter, parameters::buffers,
                                               parameters::sync};

}  // namespace

extern constinit const WorkloadInfo ialltoallw{
    .name = "ialltoallw",
    .role = "collective",
    .operation = "ialltoallw",
    .size = "bytes",
    .help =
        "MPI_Ialltoallw, then MPI_Wait: like ialltoallv, with a datatype and a displacement "
        "in bytes for each block",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = ialltoallw_parameters,
    .make = make<Ialltoallw>,
};

}  // namespace hockney::nonblocking
