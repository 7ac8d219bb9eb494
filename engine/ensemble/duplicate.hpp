// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "comm/comm.hpp"

namespace hockney::annealing {

// A duplicate that is freed with this object. A simulated duplicate holds a table of all ranks in every rank,
// gigabytes for thousands of ranks, which use the communicator itself: this suffices if the program has no
// messages of its own under way.
class Duplicate final {
 public:
  explicit Duplicate(MPI_Comm parent) {
    comm_.handle = parent;
    MPI_Comm_rank(parent, &comm_.rank);
    MPI_Comm_size(parent, &comm_.size);
#ifdef HOCKNEY_SMPI
    constexpr int most = 1024;
    if (comm_.size > most) return;
#endif
    MPI_Comm_dup(parent, &comm_.handle);
    duplicated_ = true;
  }
  ~Duplicate() {
    if (duplicated_) MPI_Comm_free(&comm_.handle);
  }
  Duplicate(const Duplicate&) = delete;
  Duplicate& operator=(const Duplicate&) = delete;

  const Comm& comm() const { return comm_; }

 private:
  Comm comm_;
  bool duplicated_ = false;
};

}  // namespace hockney::annealing
