// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "persistent/prepared.hpp"

namespace hockney::persistent {
namespace {

class Allgather final : public Prepared<AllgatherBase> {
 public:
  Allgather(const Place& place, const Values& values)
      : Prepared(place, with_mpi4(values, "MPI_Allgather_init", "allgather")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Allgather_init(outgoing_.next(), block_.count, block_.type, incoming_.next(),
                                       block_.count, block_.type, comm_.handle, MPI_INFO_NULL, request));
  }
};

constexpr Parameter allgather_persistent_parameters[] = {parameters::bytes("bytes from each rank"),
                                                         one_buffer, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo allgather_persistent{
    .name = "allgather_persistent",
    .role = "collective",
    .operation = "allgather_persistent",
    .size = "bytes",
    .help = "MPI_Start of a request made by MPI_Allgather_init, then MPI_Wait",
    .time = "MPI_Start and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = allgather_persistent_parameters,
    .make = make<Allgather>,
};

}  // namespace hockney::persistent
