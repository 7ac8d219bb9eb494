// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/vector_base.hpp"
#include "persistent/prepared.hpp"

namespace hockney::persistent {
namespace {

class Scatterv final : public Prepared<ScattervBase> {
 public:
  Scatterv(const Place& place, const Values& values)
      : Prepared(place, with_mpi4(values, "MPI_Scatterv_init", "scatterv")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Scatterv_init(outgoing_.next(), counts_.counts(), counts_.displacements(),
                                      counts_.type(), incoming_.next(), own_count(), counts_.type(), root_,
                                      comm_.handle, MPI_INFO_NULL, request));
  }
};

constexpr Parameter scatterv_persistent_parameters[] = {mean_bytes, counts_parameter, one_buffer,
                                                        parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo scatterv_persistent{
    .name = "scatterv_persistent",
    .role = "collective",
    .operation = "scatterv_persistent",
    .size = "bytes",
    .help =
        "MPI_Start of a request made by MPI_Scatterv_init, then MPI_Wait: the root sends "
        "each rank a block of a different size",
    .time = "MPI_Start and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = scatterv_persistent_parameters,
    .make = make<Scatterv>,
};

}  // namespace hockney::persistent
