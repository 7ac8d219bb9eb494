// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "comm/comm.hpp"

namespace hockney {

struct Library {
  std::string standard;  // "3.1"
  std::string version;   // first line of MPI_Get_library_version
};

Library library();
std::string host_name();

// This process's affinity mask as a list, "0" or "0-3,8"; empty if unknown, and in a simulation.
std::string allowed_cpus();

// Involuntary context switches of this thread since it started; 0 if unknown, and in a simulation.
long preemptions();

// Ranks of this communicator that share this host's memory, including this one; in a simulation all of them.
int ranks_on_this_host(const Comm& comm);

// A name shared by exactly the ranks that share memory (MPI_COMM_TYPE_SHARED): the host name of the lowest of
// them, followed by its rank if other nodes have the same host name. A simulated machine's nodes are its
// hosts. Collective.
std::string node_name(const Comm& comm);

// On rank 0 a JSON list with host, pid, CPUs and node of every rank in rank order; empty elsewhere.
std::string gather_ranks(const Comm& comm);

}  // namespace hockney
