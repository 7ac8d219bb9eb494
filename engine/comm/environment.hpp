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

// A hash of this executable's file, used to check that ranks on other hosts run the same program. Empty if
// the file cannot be read, and in a simulation, where all ranks run the same program.
std::string engine_digest();

// This process's affinity mask as a list, "0" or "0-3,8"; empty if unknown, and in a simulation.
std::string allowed_cpus();

// Involuntary context switches of this thread since it started; 0 if unknown, and in a simulation.
long preemptions();

// Number of ranks of this communicator that share this host's memory, including this one; in a simulation all
// ranks.
int count_ranks_on_host(const Comm& comm);

// Location of this rank. Collective. Exactly the ranks that share memory (MPI_COMM_TYPE_SHARED) have the same
// node name: the host name of the lowest of these ranks, followed by its rank if other nodes have the same
// host name. The core is unknown if more ranks share it than it has processors available to them, because
// they take turns on it. In a simulation, hosts are nodes, and their cores are equivalent.
RankLocation locate(const Comm& comm);

// On rank 0 a JSON list with host, pid, CPUs, node and core of every rank in rank order; empty elsewhere.
std::string gather_ranks(const Comm& comm);

// The locations in that list; needs no further message.
std::vector<RankLocation> parse_locations(const std::string& ranks);

}  // namespace hockney
