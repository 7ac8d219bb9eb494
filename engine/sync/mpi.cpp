// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/comm.hpp"
#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

class Mpi final : public Barrier {
 public:
  explicit Mpi(MPI_Comm comm) : comm_(Comm::duplicate(comm)) {}

  void wait() override { MPI_Barrier(comm_.handle); }

 private:
  Comm comm_;
};

}  // namespace

extern constinit const BarrierAlgorithm mpi{
    "mpi",
    "MPI_Barrier",
    "MPI",
    Signalling::mpi,
    [](int ranks) -> Traffic {
      static_cast<void>(ranks);
      return {};
    },
    make_barrier_of<Mpi>,
    TrialOrder{.single_rank = 0, .one_node = 2, .oversubscribed = 2, .multiple_nodes = 2}};

}  // namespace hockney::sync
