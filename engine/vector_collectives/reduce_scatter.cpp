// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/reduce_scatter_base.hpp"

namespace hockney::vector_collectives {
namespace {

class ReduceScatter final : public ReduceScatterBase {
 public:
  ReduceScatter(const Place& place, const Values& values) : ReduceScatterBase(place, values) {}

  void run() override {
    MPI_Reduce_scatter(outgoing_.next(), incoming_.next(), counts_.counts(), MPI_DOUBLE, sum_.operation,
                       comm_.handle);
  }
};

constexpr Parameter reduce_scatter_parameters[] = {summed_bytes, counts_parameter, parameters::buffers,
                                                   parameters::sync};

}  // namespace

extern constinit const WorkloadInfo reduce_scatter{
    .name = "reduce_scatter",
    .role = "collective",
    .operation = "reduce_scatter",
    .size = "bytes",
    .help = "MPI_Reduce_scatter, MPI_SUM of doubles: each rank receives a block of the sum; the sizes differ",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = reduce_scatter_parameters,
    .make = make<ReduceScatter>,
};

}  // namespace hockney::vector_collectives
