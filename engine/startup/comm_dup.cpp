// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "startup/making.hpp"

namespace hockney::startup {
namespace {

class CommDup final : public MakingBase {
 public:
  CommDup(const Place& place, const Values&) : MakingBase(place) {}

  void run() override {
    MPI_Comm copy;
    timed([&] { MPI_Comm_dup(comm_.handle, &copy); }, [&] { MPI_Comm_free(&copy); });
  }

  // Creates another duplicate and uses it.
  Check verify(const Payload&) override {
    MPI_Comm copy;
    MPI_Comm_dup(comm_.handle, &copy);
    const std::int64_t ranks = comm_.size;
    Check check = check_sum(copy, ranks * (ranks + 1) / 2);
    int comparison = MPI_UNEQUAL;
    MPI_Comm_compare(comm_.handle, copy, &comparison);
    if (comparison != MPI_CONGRUENT) check += {0, 1, "the duplicate has another group"};
    MPI_Comm_free(&copy);
    return check;
  }
};

constexpr Parameter comm_dup_parameters[] = {parameters::sync};

}  // namespace

extern constinit const WorkloadInfo comm_dup{
    .name = "comm_dup",
    .role = "start-up",
    .operation = "comm_dup",
    .help = "MPI_Comm_dup, then MPI_Comm_free",
    .time = making_and_freeing,
    .parameters = comm_dup_parameters,
    .metrics = making_metrics,
    .make = make<CommDup>,
};

}  // namespace hockney::startup
