// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/environment.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <optional>

#include "base/json.hpp"
#include "comm/affinity.hpp"

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

long preemptions() {
#if defined(HOCKNEY_SMPI) || !defined(RUSAGE_THREAD)
  return 0;
#else
  rusage used{};
  return getrusage(RUSAGE_THREAD, &used) == 0 ? used.ru_nivcsw : 0;
#endif
}

std::string host_name() {
#ifdef HOCKNEY_SMPI
  char name[MPI_MAX_PROCESSOR_NAME + 1] = {};
  int length = 0;
  MPI_Get_processor_name(name, &length);
#else
  // Not MPI_Get_processor_name, which may lack the domain or be an address.
  char name[256] = {};
  gethostname(name, sizeof name - 1);
#endif
  return name;
}

std::string allowed_cpus() {
  const std::optional<Processors> processors = affinity();
  return processors ? list_of(*processors) : "";
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

std::string node_name(const Comm& comm) {
#ifdef HOCKNEY_SMPI
  return host_name();
#else
  MPI_Comm handle;
  MPI_Comm_split_type(comm.handle, MPI_COMM_TYPE_SHARED, comm.rank, MPI_INFO_NULL, &handle);
  Comm node = Comm::of(handle);
  // Several nodes may have the same host name, for example network namespaces on one host.
  const std::string host = host_name() + "\n";
  const std::string leaders = "\n" + comm.joined_everywhere(node.root() ? host : "");
  const std::size_t first = leaders.find("\n" + host);
  const bool unique = node.root() && leaders.find("\n" + host, first + 1) == std::string::npos;
  const std::string name = host_name() + (unique ? "" : "/" + std::to_string(comm.rank));
  const std::string shared = node.joined_everywhere(node.root() ? name : "");
  node.release();
  return shared;
#endif
}

std::string gather_ranks(const Comm& comm) {
  const std::string rank = Json()
                               .field("host", host_name())
                               .field("pid", static_cast<std::int64_t>(getpid()))
                               .field("cpus", allowed_cpus())
                               .field("node", node_name(comm))
                               .str();
  const std::string list = comm.joined((comm.root() ? "" : ",") + rank);
  return comm.root() ? "[" + list + "]" : "";
}

}  // namespace hockney
