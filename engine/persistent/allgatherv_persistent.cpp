// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/vector_base.hpp"
#include "persistent/prepared.hpp"

namespace hockney::persistent {
namespace {

class Allgatherv final : public Prepared<AllgathervBase> {
 public:
  Allgatherv(const Place& place, const Values& values)
      : Prepared(place, with_mpi4(values, "MPI_Allgatherv_init", "allgatherv")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Allgatherv_init(outgoing_.next(), own_count(), counts_.type(), incoming_.next(),
                                        counts_.counts(), counts_.displacements(), counts_.type(),
                                        comm_.handle, MPI_INFO_NULL, request));
  }
};

constexpr Parameter allgatherv_persistent_parameters[] = {mean_bytes, counts_parameter, one_buffer,
                                                          parameters::sync};

}  // namespace

extern constinit const WorkloadInfo allgatherv_persistent{
    .name = "allgatherv_persistent",
    .role = "collective",
    .operation = "allgatherv_persistent",
    .size = "bytes",
    .help =
        "MPI_Start of a request made by MPI_Allgatherv_init, then MPI_Wait: every rank "
        "receives all blocks, whose sizes differ",
    .time = "MPI_Start and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = allgatherv_persistent_parameters,
    .make = make<Allgatherv>,
};

}  // namespace hockney::persistent
