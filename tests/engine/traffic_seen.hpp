// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <vector>

// Records what a rank's MPI calls send and receive, through MPI's profiling interface: linked into a test, it
// replaces MPI_Send and similar functions.
namespace seen {

struct Event {
  int sends;  // 1: a message is sent; 0: one is known to have arrived
  int other;
  int tag;
};

// From now on; earlier events are forgotten.
void start();
// This rank's events since then, in the order in which it could learn of them.
std::vector<Event> stop();

struct Counted {
  long messages = 0;
  int depth = 0;    // messages on the longest path
  int busiest = 0;  // sent and received by one rank
};

// Collective over `comm`, whose ranks the events refer to: the totals of all ranks' events. A broadcast
// counts as P - 1 messages from the root, and its depth as one.
Counted counted(const std::vector<Event>& mine, MPI_Comm comm);

}  // namespace seen
