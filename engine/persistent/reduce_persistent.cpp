// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "persistent/prepared.hpp"

namespace hockney::persistent {
namespace {

class Reduce final : public Prepared<ReduceBase> {
 public:
  Reduce(const Place& place, const Values& values)
      : Prepared(place, with_mpi4(values, "MPI_Reduce_init", "reduce")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Reduce_init(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), root_,
                                    comm_.handle, MPI_INFO_NULL, request));
  }
};

constexpr Parameter reduce_persistent_parameters[] = {
    parameters::bytes("bytes of the vector, a multiple of 8", parameters::a_double), one_buffer,
    parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo reduce_persistent{
    .name = "reduce_persistent",
    .role = "collective",
    .operation = "reduce_persistent",
    .size = "bytes",
    .help = "MPI_Start of a request made by MPI_Reduce_init, then MPI_Wait",
    .time = "MPI_Start and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = reduce_persistent_parameters,
    .make = make<Reduce>,
};

}  // namespace hockney::persistent
