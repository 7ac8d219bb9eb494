// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/exchange_base.hpp"
#include "persistent/prepared.hpp"

namespace hockney::persistent {
namespace {

class Alltoallv final : public Prepared<ExchangeBase> {
 public:
  Alltoallv(const Place& place, const Values& values)
      : Prepared(place, with_mpi4(values, "MPI_Alltoallv_init", "alltoallv")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Alltoallv_init(outgoing_.next(), sent_.counts(), sent_.displacements(), sent_.type(),
                                       incoming_.next(), received_.data(), displacements_.data(),
                                       sent_.type(), comm_.handle, MPI_INFO_NULL, request));
  }
};

constexpr Parameter alltoallv_persistent_parameters[] = {exchanged_bytes, counts_parameter, one_buffer,
                                                         parameters::sync};

}  // namespace

extern constinit const WorkloadInfo alltoallv_persistent{
    .name = "alltoallv_persistent",
    .role = "collective",
    .operation = "alltoallv_persistent",
    .size = "bytes",
    .help =
        "MPI_Start of a request made by MPI_Alltoallv_init, then MPI_Wait: every rank sends "
        "a block of a different size to each rank",
    .time = "MPI_Start and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = alltoallv_persistent_parameters,
    .make = make<Alltoallv>,
};

}  // namespace hockney::persistent
