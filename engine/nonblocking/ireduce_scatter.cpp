// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/reduce_scatter_base.hpp"
#include "measure/started.hpp"

namespace hockney::nonblocking {
namespace {

class IreduceScatter final : public StartAndWait<ReduceScatterBase> {
 public:
  IreduceScatter(const Place& place, const Values& values) : StartAndWait(place, values) {}

  void start(MPI_Request* request) override {
    MPI_Ireduce_scatter(outgoing_.next(), incoming_.next(), counts_.counts(), MPI_DOUBLE, sum_.operation,
                        comm_.handle, request);
  }
};

constexpr Parameter ireduce_scatter_parameters[] = {summed_bytes, counts_parameter, parameters::buffers,
                                                    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo ireduce_scatter{
    .name = "ireduce_scatter",
    .role = "collective",
    .operation = "ireduce_scatter",
    .size = "bytes",
    .help =
        "MPI_Ireduce_scatter, MPI_SUM of doubles, then MPI_Wait: each rank receives a block "
        "of the sum; the sizes differ",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = ireduce_scatter_parameters,
    .make = make<IreduceScatter>,
};

}  // namespace hockney::nonblocking
