// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <memory>

#include "hockney/barrier.hpp"
#include "hockney/coll.hpp"
#include "library/coll/types.hpp"

namespace hockney {

// Whether the program has called MPI_Init. One that uses only sessions has no MPI_COMM_SELF, with which a
// rank's state is kept.
bool started();

// While it exists, this thread's calls are those of our own algorithms, which are not replaced in turn.
class Inside {
 public:
  Inside() : before_(now()) { now() = true; }
  ~Inside() { now() = before_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  static bool& now() {
    HOCKNEY_KEPT bool inside = false;
    return inside;
  }

 private:
  const bool before_;
};

// What is kept with a communicator of the program: its size, and a communicator for our messages, which can
// match neither the program's messages nor those of other libraries.
class Link {
 public:
  // Null for an invalid communicator, an intercommunicator, one rank, and inside: such calls belong to
  // MPI.
  static Link* of(MPI_Comm comm) {
    Link* const link = Inside::now() ? nullptr : any(comm);
    return link && link->ranks > 1 ? link : nullptr;
  }

  explicit Link(MPI_Comm comm);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  int ranks = 0;  // 0 of an intercommunicator
  int rank = 0;

  // Whether the environment's table is the same on all ranks. Collective on the first call.
  bool same_table(MPI_Comm comm);
  // The communicator for our messages. Errors are returned on it. Collective on the first call.
  int own(MPI_Comm comm, MPI_Comm& found);
  // The barrier with this name, or the fastest one for "best"; null if `comm` cannot have it, on all ranks
  // alike. Collective on the first call; later ones must have the same name.
  Barrier* barrier(MPI_Comm comm, std::string_view name);
  // Frees both.
  void release();

 private:
  enum class Tables : char { unknown, same, different };

  static Link* any(MPI_Comm comm);
  static Link* looked_up(MPI_Comm comm);

  MPI_Comm own_ = MPI_COMM_NULL;
  Tables tables_ = Tables::unknown;
  std::unique_ptr<Barrier> barrier_;
  bool asked_ = false;  // for the barrier
};

}  // namespace hockney
