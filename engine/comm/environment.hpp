// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "comm/placement.hpp"

namespace hockney {

struct Library {
  std::string standard;  // "3.1"
  std::string version;   // first line of MPI_Get_library_version
};

Library library();
std::string host_name();

// A hash of this executable's file, to see whether ranks on other hosts run the same; empty if it cannot be
// read, and in a simulation, where all ranks run the same.
std::string engine_digest();

// This process's affinity mask as a list, "0" or "0-3,8"; empty if unknown, and in a simulation.
std::string allowed_cpus();

// Involuntary context switches of this thread since it started; 0 if unknown, and in a simulation.
long preemptions();

// Ranks of this communicator that share this host's memory, including this one; in a simulation all of them.
int ranks_on_this_host(const Comm& comm);

// Where this rank is. The name of its node is shared by exactly the ranks that share memory
// (MPI_COMM_TYPE_SHARED): the host name of the lowest of them, followed by its rank if other nodes have the
// same host name. Its core is unknown if ranks outnumber the core's processors that they may use: they take
// turns on it. A simulated machine's nodes are its hosts, and their cores are alike. Collective.
Spot locate(const Comm& comm);

// On rank 0 a JSON list with host, pid, CPUs, node and core of every rank in rank order; empty elsewhere.
std::string gather_ranks(const Comm& comm);

// The places in that list, which needs no further message.
std::vector<Spot> spots_in(const std::string& ranks);

}  // namespace hockney
