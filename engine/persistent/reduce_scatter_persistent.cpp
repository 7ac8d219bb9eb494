// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/reduce_scatter_base.hpp"
#include "persistent/prepared.hpp"

namespace hockney::persistent {
namespace {

class ReduceScatter final : public Prepared<ReduceScatterBase> {
 public:
  ReduceScatter(const Place& place, const Values& values)
      : Prepared(place, with_mpi4(values, "MPI_Reduce_scatter_init", "reduce_scatter")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Reduce_scatter_init(outgoing_.next(), incoming_.next(), counts_.counts(), MPI_DOUBLE,
                                            sum_.operation, comm_.handle, MPI_INFO_NULL, request));
  }
};

constexpr Parameter reduce_scatter_persistent_parameters[] = {summed_bytes, counts_parameter, one_buffer,
                                                              parameters::sync};

}  // namespace

extern constinit const WorkloadInfo reduce_scatter_persistent{
    .name = "reduce_scatter_persistent",
    .role = "collective",
    .operation = "reduce_scatter_persistent",
    .size = "bytes",
    .help =
        "MPI_Start of a request made by MPI_Reduce_scatter_init (MPI_SUM of doubles), then "
        "MPI_Wait: each rank receives a block of the sum; the sizes differ",
    .time = "MPI_Start and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = reduce_scatter_persistent_parameters,
    .make = make<ReduceScatter>,
};

}  // namespace hockney::persistent
