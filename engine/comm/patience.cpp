// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/patience.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <memory>

#include "comm/rank_state.hpp"

namespace hockney {
namespace {

// Looks before a rank gives its core away. What comes at once is not worth a system call where ranks are
// crowded; elsewhere nothing is that takes less than 0.1 ms or so, but whom it waits for may have been put on
// its core.
constexpr unsigned looks_of_the_crowded = 16;
constexpr unsigned looks_of_others = 4096;

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

#ifndef HOCKNEY_SMPI

// More processors than any Linux is built for: the same size everywhere, so that masks can be combined.
constexpr int most_processors = 16384;
using Processors = std::array<unsigned char, most_processors / 8>;

// That this process may use; all that there could be where that is not known.
Processors own_processors() {
  Processors mine{};
  alignas(cpu_set_t) Processors mask{};
  if (sched_getaffinity(0, mask.size(), reinterpret_cast<cpu_set_t*>(mask.data())) == 0)
    mine = mask;
  else
    mine.fill(0xff);
  return mine;
}

int count(const Processors& processors) {
  int found = 0;
  for (const unsigned char some : processors) found += std::popcount(some);
  return found;
}

// Ranks that the launcher has started on this node, as Open MPI's and MPICH's say; 0 where it does not.
int started_here() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
    if (const char* said = std::getenv(name)) return std::atoi(said);
  return 0;
}

NodeLayout look_around(MPI_Comm comm) {
  MPI_Comm node;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  NodeLayout found{1, 1, false, false};
  MPI_Comm_size(node, &found.ranks);
  Processors all = own_processors();
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_BYTE, MPI_BOR, node);
  found.cores = count(all);
  MPI_Comm_free(&node);
  int size = 1;
  MPI_Comm_size(comm, &size);
  // Ranks that are not in this communicator may be bound to cores that its own do not see.
  const int whole_node = std::max(found.cores, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  const bool crowded = found.ranks > found.cores || started_here() > whole_node;
  int some[] = {found.ranks < size ? 1 : 0, crowded ? 1 : 0};
  MPI_Allreduce(MPI_IN_PLACE, some, 2, MPI_INT, MPI_MAX, comm);
  found.whole = some[0] == 0;
  found.crowded = some[1] != 0;
  return found;
}

#endif

}  // namespace

NodeLayout layout_of_this_node(MPI_Comm comm) {
#ifdef HOCKNEY_SMPI
  // Every simulated rank has a node and a core of its own, and the host's are none of its business.
  int size = 1;
  MPI_Comm_size(comm, &size);
  return {size, size, size == 1, false};
#else
  // This takes several collective calls, and barriers are often made in a row, so the communicator keeps it.
  if (const NodeLayout* layout = CommState<NodeLayout>::find(comm)) return *layout;
  return CommState<NodeLayout>::keep(comm, std::make_unique<NodeLayout>(look_around(comm)));
#endif
}

Patience::Patience(MPI_Comm comm) : Patience(layout_of_this_node(comm).crowded) {}

void Patience::pause(unsigned looked) const {
  if (looked >= (crowded_ ? looks_of_the_crowded : looks_of_others))
    sched_yield();
  else
    relax();
}

void Patience::finish(MPI_Request& request) const {
  if (!crowded_) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
  int done = 0;
  until([&] {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
}

void Patience::finish_all(int count, MPI_Request* requests) const {
  if (!crowded_) {
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    return;
  }
  int done = 0;
  until([&] {
    MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
    return done != 0;
  });
}

MPI_Comm Patience::duplicate(MPI_Comm comm) const {
  MPI_Comm copy;
#ifndef HOCKNEY_SMPI
  if (crowded_) {
    MPI_Request request;
    MPI_Comm_idup(comm, &copy, &request);
    finish(request);
    return copy;
  }
#endif
  MPI_Comm_dup(comm, &copy);
  return copy;
}

void Patience::meet(MPI_Comm comm) const {
  if (!crowded_) {
    MPI_Barrier(comm);
    return;
  }
  MPI_Request request;
  MPI_Ibarrier(comm, &request);
  finish(request);
}

bool Patience::on_all(bool fine, MPI_Comm comm) const {
  int all = fine ? 1 : 0;
  if (!crowded_) {
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm);
    return all != 0;
  }
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm, &request);
  finish(request);
  return all != 0;
}

}  // namespace hockney
