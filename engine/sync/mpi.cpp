// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

class Mpi final : public Barrier {
 public:
  explicit Mpi(MPI_Comm comm) : signals_(comm) {}

  void wait() override { MPI_Barrier(signals_.handle()); }

 private:
  const Signals signals_;
};

}  // namespace

extern constinit const BarrierAlgorithm mpi{"mpi",
                                            "MPI_Barrier",
                                            "MPI",
                                            Means::mpi,
                                            [](int ranks) -> Traffic {
                                              static_cast<void>(ranks);
                                              return {};
                                            },
                                            make_barrier_of<Mpi>};

}  // namespace hockney::sync
