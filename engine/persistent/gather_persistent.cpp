// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "persistent/prepared.hpp"

namespace hockney::persistent {
namespace {

class Gather final : public Prepared<GatherBase> {
 public:
  Gather(const Place& place, const Values& values)
      : Prepared(place, with_mpi4(values, "MPI_Gather_init", "gather")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Gather_init(outgoing_.next(), block_.count, block_.type, incoming_.next(),
                                    block_.count, block_.type, root_, comm_.handle, MPI_INFO_NULL, request));
  }
};

constexpr Parameter gather_persistent_parameters[] = {parameters::bytes("bytes from each rank"), one_buffer,
                                                      parameters::root, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo gather_persistent{
    .name = "gather_persistent",
    .role = "collective",
    .operation = "gather_persistent",
    .size = "bytes",
    .help = "MPI_Start of a request made by MPI_Gather_init, then MPI_Wait",
    .time = "MPI_Start and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = gather_persistent_parameters,
    .make = make<Gather>,
};

}  // namespace hockney::persistent
