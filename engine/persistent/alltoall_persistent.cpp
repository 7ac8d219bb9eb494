// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "persistent/prepared.hpp"

namespace hockney::persistent {
namespace {

class Alltoall final : public Prepared<AlltoallBase> {
 public:
  Alltoall(const Place& place, const Values& values)
      : Prepared(place, with_mpi4(values, "MPI_Alltoall_init", "alltoall")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Alltoall_init(outgoing_.next(), block_.count, block_.type, incoming_.next(),
                                      block_.count, block_.type, comm_.handle, MPI_INFO_NULL, request));
  }
};

constexpr Parameter alltoall_persistent_parameters[] = {
    parameters::bytes("bytes from each rank to each rank"), one_buffer, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo alltoall_persistent{
    .name = "alltoall_persistent",
    .role = "collective",
    .operation = "alltoall_persistent",
    .size = "bytes",
    .help = "MPI_Start of a request made by MPI_Alltoall_init, then MPI_Wait",
    .time = "MPI_Start and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = alltoall_persistent_parameters,
    .make = make<Alltoall>,
};

}  // namespace hockney::persistent
