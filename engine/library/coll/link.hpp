// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "hockney/coll.hpp"

namespace hockney {

// Whether the program has called MPI_Init. One that uses only sessions has no MPI_COMM_SELF, with which a
// rank's state is kept.
bool started();

// What is kept with a communicator of the program: its size, and a communicator for our messages, which can
// match neither the program's messages nor those of other libraries.
class Link {
 public:
  // Null for an invalid communicator, an intercommunicator, and one rank: such calls belong to MPI.
  static Link* of(MPI_Comm comm);

  Link(MPI_Comm comm, int size);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  const int ranks;
  int rank = 0;

  // Whether the environment's table is the same on all ranks. Collective on the first call.
  bool same_table(MPI_Comm comm);
  // The communicator for our messages. Errors are returned on it. Collective on the first call.
  int own(MPI_Comm comm, MPI_Comm& found);
  // Frees it.
  void release();

 private:
  enum class Tables : char { unknown, same, different };

  MPI_Comm own_ = MPI_COMM_NULL;
  Tables tables_ = Tables::unknown;
};

}  // namespace hockney
