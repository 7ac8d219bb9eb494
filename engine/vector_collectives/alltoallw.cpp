// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/exchange_base.hpp"

namespace hockney::vector_collectives {
namespace {

class Alltoallw final : public TypedExchangeBase {
 public:
  Alltoallw(const Place& place, const Values& values) : TypedExchangeBase(place, values) {}

  void run() override {
    MPI_Alltoallw(outgoing_.next(), sent_.counts(), sent_.displacements(), types_.data(), incoming_.next(),
                  received_.data(), displacements_.data(), types_.data(), comm_.handle);
  }
};

constexpr Parameter alltoallw_parameters[] = {exchanged_bytes, counts_parameter, parameters::buffers,
                                              parameters::sync};

}  // namespace

extern constinit const WorkloadInfo alltoallw{
    .name = "alltoallw",
    .role = "collective",
    .operation = "alltoallw",
    .size = "bytes",
    .help =
        "MPI_Alltoallw: like alltoallv, with a datatype and a displacement in bytes for each "
        "block",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = alltoallw_parameters,
    .make = make<Alltoallw>,
};

}  // namespace hockney::vector_collectives
