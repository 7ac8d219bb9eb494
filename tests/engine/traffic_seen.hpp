// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <vector>

// What a rank's calls of MPI send and receive, seen through MPI's profiling interface: linked into a test,
// this stands before MPI_Send and its like.
namespace seen {

struct Event {
  int sends;  // 1: a message leaves; 0: one is known to have come
  int other;
  int tag;
};

// From now on; events of before are forgotten.
void start();
// This rank's events since then, in the order in which it could know of them.
std::vector<Event> stop();

struct Counted {
  long messages = 0;
  int depth = 0;    // messages that follow one another on the longest path
  int busiest = 0;  // sent and received by one rank
};

// Collective over `comm`, whose ranks the events name: what all ranks' events come to. A broadcast counts as
// P - 1 messages from the root, and its depth as one.
Counted counted(const std::vector<Event>& mine, MPI_Comm comm);

}  // namespace seen
