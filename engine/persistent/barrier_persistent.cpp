// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "persistent/prepared.hpp"

namespace hockney::persistent {
namespace {

class Placed : public Workload {
 public:
  explicit Placed(const Place& place) : comm_(place.comm) {}

 protected:
  const Comm& comm_;
};

class PersistentBarrier final : public Prepared<Placed> {
 public:
  PersistentBarrier(const Place& place, const Values&) : Prepared(place) {
    require_mpi4("MPI_Barrier_init", "barrier");
  }

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Barrier_init(comm_.handle, MPI_INFO_NULL, request));
  }
};

constexpr Parameter barrier_persistent_parameters[] = {parameters::sync};

}  // namespace

extern constinit const WorkloadInfo barrier_persistent{
    .name = "barrier_persistent",
    .role = "collective",
    .operation = "barrier_persistent",
    .help = "MPI_Start of a request made by MPI_Barrier_init, then MPI_Wait",
    .time = "MPI_Start and MPI_Wait, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = barrier_persistent_parameters,
    .make = make<PersistentBarrier>,
};

}  // namespace hockney::persistent
