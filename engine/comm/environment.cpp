// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/environment.hpp"

#include <sched.h>
#include <unistd.h>

#include <cstring>

#include "base/json.hpp"

namespace hockney {

Library library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string version(text);
  for (char& c : version)
    if (c == '\t') c = ' ';
  version = version.substr(0, version.find('\n'));
  int major = 0;
  int minor = 0;
  MPI_Get_version(&major, &minor);
  return {std::to_string(major) + "." + std::to_string(minor), version};
}

std::string host_name() {
#ifdef HOCKNEY_SMPI
  char name[MPI_MAX_PROCESSOR_NAME + 1] = {};
  int length = 0;
  MPI_Get_processor_name(name, &length);
#else
  // Not MPI's word for it, which may lack the domain or be an address.
  char name[256] = {};
  gethostname(name, sizeof name - 1);
#endif
  return name;
}

std::string allowed_cpus() {
#if defined(__linux__) && !defined(HOCKNEY_SMPI)
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return "";
  std::string list;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    int last = cpu;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    if (!list.empty()) list += ',';
    list += std::to_string(cpu);
    if (last > cpu) list += '-' + std::to_string(last);
    cpu = last;
  }
  return list;
#else
  return "";
#endif
}

int ranks_on_this_host(const Comm& comm) {
#ifdef HOCKNEY_SMPI
  return comm.size;
#else
  MPI_Comm node;
  MPI_Comm_split_type(comm.handle, MPI_COMM_TYPE_SHARED, comm.rank, MPI_INFO_NULL, &node);
  int size = 1;
  MPI_Comm_size(node, &size);
  MPI_Comm_free(&node);
  return size;
#endif
}

std::string gather_ranks(const Comm& comm) {
  const std::string mine = Json()
                               .field("host", host_name())
                               .field("pid", static_cast<std::int64_t>(getpid()))
                               .field("cpus", allowed_cpus())
                               .str();
  const std::string list = comm.joined((comm.root() ? "" : ",") + mine);
  return comm.root() ? "[" + list + "]" : "";
}

}  // namespace hockney
