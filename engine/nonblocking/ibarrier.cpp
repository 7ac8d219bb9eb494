// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"

namespace hockney::nonblocking {
namespace {

class Ibarrier final : public StartAndWait<Workload> {
 public:
  Ibarrier(const Place& place, const Values&) : comm_(place.comm) {}

  void start(MPI_Request* request) override { MPI_Ibarrier(comm_.handle, request); }

 private:
  const Comm& comm_;
};

constexpr Parameter ibarrier_parameters[] = {parameters::sync};

}  // namespace

extern constinit const WorkloadInfo ibarrier{
    .name = "ibarrier",
    .role = "collective",
    .operation = "ibarrier",
    .help = "MPI_Ibarrier, then MPI_Wait",
    .time = "the call and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = ibarrier_parameters,
    .make = make<Ibarrier>,
};

}  // namespace hockney::nonblocking
