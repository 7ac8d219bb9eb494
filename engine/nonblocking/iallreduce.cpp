// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"

namespace hockney::nonblocking {
namespace {

class Iallreduce final : public StartAndWait<AllreduceBase> {
 public:
  using StartAndWait::StartAndWait;

  void start(MPI_Request* request) override {
    MPI_Iallreduce(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), comm_.handle, request);
  }
};

constexpr Parameter iallreduce_parameters[] = {
    parameters::bytes("bytes of the vector, a multiple of 8", parameters::a_double), parameters::buffers,
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo iallreduce{
    .name = "iallreduce",
    .role = "collective",
    .operation = "iallreduce",
    .size = "bytes",
    .help = "MPI_Iallreduce, MPI_SUM of doubles, then MPI_Wait",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = iallreduce_parameters,
    .make = make<Iallreduce>,
};

}  // namespace hockney::nonblocking
