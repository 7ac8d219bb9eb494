// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <memory>

#include "hockney/barrier.hpp"
#include "hockney/coll.hpp"
#include "library/coll/types.hpp"

namespace hockney {

// Whether the program has called MPI_Init. A program that uses only sessions has no MPI_COMM_SELF, which
// holds a rank's state.
bool is_mpi_started();

// While this object exists, this thread's calls come from hockney's own algorithms, and are not replaced
// again.
class InternalCall {
 public:
  InternalCall() : before_(now()) { now() = true; }
  ~InternalCall() { now() = before_; }
  InternalCall(const InternalCall&) = delete;
  InternalCall& operator=(const InternalCall&) = delete;

  static bool& now() {
    HOCKNEY_KEPT bool inside = false;
    return inside;
  }

 private:
  const bool before_;
};

// Data attached to a communicator of the program: its size, and a private communicator, whose messages can
// match neither the program's messages nor those of other libraries.
class Link {
 public:
  // Null for an invalid communicator, an intercommunicator, a single rank, and internal calls: MPI handles
  // these calls.
  static Link* of(MPI_Comm comm) {
    Link* const link = InternalCall::now() ? nullptr : any(comm);
    return link && link->ranks > 1 ? link : nullptr;
  }

  explicit Link(MPI_Comm comm);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  int ranks = 0;  // 0 for an intercommunicator
  int rank = 0;

  // Whether the environment's table is the same on all ranks. Collective on the first call.
  bool has_same_table(MPI_Comm comm);
  // Returns the private communicator, on which errors are returned. Collective on the first call.
  int own(MPI_Comm comm, MPI_Comm& found);
  // The barrier with this name, or the fastest one for "best"; null on all ranks if `comm` does not support
  // it. Collective on the first call; later calls must use the same name.
  Barrier* barrier(MPI_Comm comm, std::string_view name);
  // Frees the private communicator and the barrier.
  void release();

 private:
  enum class Tables : char { unknown, same, different };

  static Link* any(MPI_Comm comm);
  static Link* look_up(MPI_Comm comm);

  MPI_Comm own_ = MPI_COMM_NULL;
  Tables tables_ = Tables::unknown;
  std::unique_ptr<Barrier> barrier_;
  bool is_barrier_requested_ = false;  // for the barrier
};

}  // namespace hockney
