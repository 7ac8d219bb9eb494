// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "persistent/prepared.hpp"

namespace hockney::persistent {
namespace {

class Allreduce final : public Prepared<AllreduceBase> {
 public:
  Allreduce(const Place& place, const Values& values)
      : Prepared(place, with_mpi4(values, "MPI_Allreduce_init", "allreduce")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Allreduce_init(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(),
                                       comm_.handle, MPI_INFO_NULL, request));
  }
};

constexpr Parameter allreduce_persistent_parameters[] = {
    parameters::bytes("bytes of the vector, a multiple of 8", parameters::a_double), one_buffer,
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo allreduce_persistent{
    .name = "allreduce_persistent",
    .role = "collective",
    .operation = "allreduce_persistent",
    .size = "bytes",
    .help = "MPI_Start of a request made by MPI_Allreduce_init, then MPI_Wait",
    .time = "MPI_Start and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = allreduce_persistent_parameters,
    .make = make<Allreduce>,
};

}  // namespace hockney::persistent
