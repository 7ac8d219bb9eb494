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

// This process's affinity mask as a list, "0" or "0-3,8"; empty where the system does not tell, and in a
// simulation.
std::string allowed_cpus();

// Ranks of this communicator that share this host's memory, counting this one: in a simulation all of them.
int ranks_on_this_host(const Comm& comm);

// On rank 0 a JSON list with host, pid and CPUs of every rank in rank order; empty elsewhere.
std::string gather_ranks(const Comm& comm);

}  // namespace hockney
