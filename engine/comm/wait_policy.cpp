// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/wait_policy.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include "comm/affinity.hpp"
#include "comm/rank_state.hpp"

namespace hockney {
namespace {

// Polls before a rank yields its core. If ranks are oversubscribed, a message that arrives at once is not
// worth a system call. Otherwise no wait shorter than about 0.1 ms is, but the awaited rank may have been
// scheduled on this core.
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

// The processors that this process may use; the maximum if unknown.
Processors own_processors() {
  const std::optional<Processors> processors = affinity();
  if (processors) return *processors;
  Processors all;
  all.fill(0xff);
  return all;
}

// Ranks that the launcher has started on this node, as reported by Open MPI and MPICH; 0 if unknown.
int started_here() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
    if (const char* ranks = std::getenv(name)) return std::atoi(ranks);
  return 0;
}

NodeLayout look_around(MPI_Comm comm) {
  MPI_Comm node;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  NodeLayout layout{1, 1, false, false};
  MPI_Comm_size(node, &layout.ranks);
  Processors all = own_processors();
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_BYTE, MPI_BOR, node);
  layout.cores = count(all);
  MPI_Comm_free(&node);
  int size = 1;
  MPI_Comm_size(comm, &size);
  // Ranks outside this communicator may be bound to cores that its ranks cannot use.
  const int whole_node = std::max(layout.cores, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  const bool crowded = layout.ranks > layout.cores || started_here() > whole_node;
  int any[] = {layout.ranks < size ? 1 : 0, crowded ? 1 : 0};
  MPI_Allreduce(MPI_IN_PLACE, any, 2, MPI_INT, MPI_MAX, comm);
  layout.whole = any[0] == 0;
  layout.crowded = any[1] != 0;
  return layout;
}

#endif

}  // namespace

NodeLayout layout_of_this_node(MPI_Comm comm) {
#ifdef HOCKNEY_SMPI
  // Every simulated rank has its own node and core; the host's cores do not matter.
  int size = 1;
  MPI_Comm_size(comm, &size);
  return {size, size, size == 1, false};
#else
  // This takes several collective calls, and barriers are often called back to back, so the result is kept
  // with the communicator.
  if (const NodeLayout* layout = CommState<NodeLayout>::find(comm)) return *layout;
  return CommState<NodeLayout>::keep(comm, std::make_unique<NodeLayout>(look_around(comm)));
#endif
}

WaitPolicy::WaitPolicy(MPI_Comm comm) : WaitPolicy(layout_of_this_node(comm).crowded) {}

void WaitPolicy::pause(unsigned looked) const {
  if (looked >= (crowded_ ? looks_of_the_crowded : looks_of_others))
    sched_yield();
  else
    relax();
}

void WaitPolicy::finish(MPI_Request& request) const {
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

void WaitPolicy::finish_all(int count, MPI_Request* requests) const {
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

MPI_Comm WaitPolicy::duplicate(MPI_Comm comm) const {
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

void WaitPolicy::meet(MPI_Comm comm) const {
  if (!crowded_) {
    MPI_Barrier(comm);
    return;
  }
  MPI_Request request;
  MPI_Ibarrier(comm, &request);
  finish(request);
}

bool WaitPolicy::on_all(bool fine, MPI_Comm comm) const {
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
