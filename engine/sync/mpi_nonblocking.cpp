// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

// MPI_Ibarrier and its completion; an oversubscribed rank yields its core in between, which MPI_Barrier may
// not do.
class MpiNonblocking final : public Barrier {
 public:
  explicit MpiNonblocking(MPI_Comm comm) : signals_(comm) {}

  void wait() override {
    MPI_Request request;
    MPI_Ibarrier(signals_.handle(), &request);
    signals_.finish(request);
  }

 private:
  const Signals signals_;
};

}  // namespace

extern constinit const BarrierAlgorithm mpi_nonblocking{
    "mpi_nonblocking",
    "MPI_Ibarrier, then its completion",
    "MPI",
    Signalling::mpi,
    [](int ranks) -> Traffic {
      static_cast<void>(ranks);
      return {};
    },
    make_barrier_of<MpiNonblocking>,
    TrialOrder{.single_rank = 0, .one_node = 0, .oversubscribed = 0, .multiple_nodes = 7}};

}  // namespace hockney::sync
