// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "persistent/prepared.hpp"

namespace hockney::persistent {
namespace {

class Bcast final : public Prepared<BcastBase> {
 public:
  Bcast(const Place& place, const Values& values)
      : Prepared(place, with_mpi4(values, "MPI_Bcast_init", "bcast")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Bcast_init(incoming_.next(), block_.count, block_.type, root_, comm_.handle,
                                   MPI_INFO_NULL, request));
  }
};

constexpr Parameter bcast_persistent_parameters[] = {parameters::bytes("bytes from the root"), one_buffer,
                                                     parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo bcast_persistent{
    .name = "bcast_persistent",
    .role = "collective",
    .operation = "bcast_persistent",
    .size = "bytes",
    .help = "MPI_Start of a request made by MPI_Bcast_init, then MPI_Wait",
    .time = "MPI_Start and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = bcast_persistent_parameters,
    .make = make<Bcast>,
};

}  // namespace hockney::persistent
