// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/exchange_base.hpp"

namespace hockney::vector_collectives {
namespace {

class Alltoallv final : public ExchangeBase {
 public:
  Alltoallv(const Place& place, const Values& values) : ExchangeBase(place, values) {}

  void run() override {
    MPI_Alltoallv(outgoing_.next(), sent_.counts(), sent_.displacements(), sent_.type(), incoming_.next(),
                  received_.data(), displacements_.data(), sent_.type(), comm_.handle);
  }
};

constexpr Parameter alltoallv_parameters[] = {exchanged_bytes, counts_parameter, parameters::buffers,
                                              parameters::sync};

}  // namespace

extern constinit const WorkloadInfo alltoallv{
    .name = "alltoallv",
    .role = "collective",
    .operation = "alltoallv",
    .size = "bytes",
    .help = "MPI_Alltoallv: every rank sends a block of a different size to each rank",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = alltoallv_parameters,
    .make = make<Alltoallv>,
};

}  // namespace hockney::vector_collectives
