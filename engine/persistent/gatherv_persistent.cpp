// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/vector_base.hpp"
#include "persistent/prepared.hpp"

namespace hockney::persistent {
namespace {

class Gatherv final : public Prepared<GathervBase> {
 public:
  Gatherv(const Place& place, const Values& values)
      : Prepared(place, with_mpi4(values, "MPI_Gatherv_init", "gatherv")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Gatherv_init(outgoing_.next(), own_count(), counts_.type(), incoming_.next(),
                                     counts_.counts(), counts_.displacements(), counts_.type(), root_,
                                     comm_.handle, MPI_INFO_NULL, request));
  }
};

constexpr Parameter gatherv_persistent_parameters[] = {mean_bytes, counts_parameter, one_buffer,
                                                       parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo gatherv_persistent{
    .name = "gatherv_persistent",
    .role = "collective",
    .operation = "gatherv_persistent",
    .size = "bytes",
    .help =
        "MPI_Start of a request made by MPI_Gatherv_init, then MPI_Wait: the root receives "
        "all blocks, whose sizes differ",
    .time = "MPI_Start and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = gatherv_persistent_parameters,
    .make = make<Gatherv>,
};

}  // namespace hockney::persistent
