// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "persistent/prepared.hpp"

namespace hockney::persistent {
namespace {

class Scatter final : public Prepared<ScatterBase> {
 public:
  Scatter(const Place& place, const Values& values)
      : Prepared(place, with_mpi4(values, "MPI_Scatter_init", "scatter")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Scatter_init(outgoing_.next(), block_.count, block_.type, incoming_.next(),
                                     block_.count, block_.type, root_, comm_.handle, MPI_INFO_NULL, request));
  }
};

constexpr Parameter scatter_persistent_parameters[] = {parameters::bytes("bytes to each rank"), one_buffer,
                                                       parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo scatter_persistent{
    .name = "scatter_persistent",
    .role = "collective",
    .operation = "scatter_persistent",
    .size = "bytes",
    .help = "MPI_Start of a request made by MPI_Scatter_init, then MPI_Wait",
    .time = "MPI_Start and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = scatter_persistent_parameters,
    .make = make<Scatter>,
};

}  // namespace hockney::persistent
