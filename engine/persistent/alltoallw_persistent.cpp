// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/exchange_base.hpp"
#include "persistent/prepared.hpp"

namespace hockney::persistent {
namespace {

class Alltoallw final : public Prepared<TypedExchangeBase> {
 public:
  Alltoallw(const Place& place, const Values& values)
      : Prepared(place, with_mpi4(values, "MPI_Alltoallw_init", "alltoallw")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Alltoallw_init(outgoing_.next(), sent_.counts(), sent_.displacements(), types_.data(),
                                       incoming_.next(), received_.data(), displacements_.data(),
                                       types_.data(), comm_.handle, MPI_INFO_NULL, request));
  }
};

constexpr Parameter alltoallw_persistent_parameters[] = {exchanged_bytes, counts_parameter, one_buffer,
                                                         parameters::sync};

}  // namespace

extern constinit const WorkloadInfo alltoallw_persistent{
    .name = "alltoallw_persistent",
    .role = "collective",
    .operation = "alltoallw_persistent",
    .size = "bytes",
    .help =
        "MPI_Start of a request made by MPI_Alltoallw_init, then MPI_Wait: like alltoallv, "
        "with a datatype and a displacement in bytes for each block",
    .time = "MPI_Start and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = alltoallw_persistent_parameters,
    .make = make<Alltoallw>,
};

}  // namespace hockney::persistent
