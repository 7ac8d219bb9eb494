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

// Number of polls before a rank yields its core. An oversubscribed rank yields soon, but not for a message
// that arrives immediately. Otherwise waits up to about 0.1 ms are not worth a system call, but the awaited
// rank may have been scheduled on this core.
constexpr unsigned oversubscribed_polls = 16;
constexpr unsigned regular_polls = 4096;

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

#ifndef HOCKNEY_SMPI

// The processors that this process may use; the maximum if unknown.
Processors allowed_processors() {
  const std::optional<Processors> processors = affinity();
  if (processors) return *processors;
  Processors all;
  all.fill(0xff);
  return all;
}

// Number of ranks that the launcher has started on this node, as reported by Open MPI and MPICH; 0 if
// unknown.
int ranks_started_on_node() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
    if (const char* ranks = std::getenv(name)) return std::atoi(ranks);
  return 0;
}

NodeLayout determine_layout(MPI_Comm comm) {
  MPI_Comm node;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  NodeLayout layout{1, 1, false, false};
  MPI_Comm_size(node, &layout.ranks);
  Processors all = allowed_processors();
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_BYTE, MPI_BOR, node);
  layout.cores = count(all);
  MPI_Comm_free(&node);
  int size = 1;
  MPI_Comm_size(comm, &size);
  // Ranks outside this communicator may be bound to cores that its ranks cannot use.
  const int node_cores = std::max(layout.cores, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  const bool oversubscribed = layout.ranks > layout.cores || ranks_started_on_node() > node_cores;
  int any_rank[] = {layout.ranks < size ? 1 : 0, oversubscribed ? 1 : 0};
  MPI_Allreduce(MPI_IN_PLACE, any_rank, 2, MPI_INT, MPI_MAX, comm);
  layout.on_one_node = any_rank[0] == 0;
  layout.oversubscribed = any_rank[1] != 0;
  return layout;
}

#endif

}  // namespace

NodeLayout local_node_layout(MPI_Comm comm) {
#ifdef HOCKNEY_SMPI
  // Every simulated rank has its own node and core; the host's cores do not matter.
  int size = 1;
  MPI_Comm_size(comm, &size);
  return {size, size, size == 1, false};
#else
  // This takes several collective calls, and barriers are often called back to back, so the result is stored
  // with the communicator.
  if (const NodeLayout* layout = CommState<NodeLayout>::find(comm)) return *layout;
  return CommState<NodeLayout>::keep(comm, std::make_unique<NodeLayout>(determine_layout(comm)));
#endif
}

WaitPolicy::WaitPolicy(MPI_Comm comm) : WaitPolicy(local_node_layout(comm).oversubscribed) {}

void WaitPolicy::pause(unsigned polls) const {
  if (polls >= (oversubscribed_ ? oversubscribed_polls : regular_polls))
    sched_yield();
  else
    relax();
}

void WaitPolicy::finish(MPI_Request& request) const {
  if (!oversubscribed_) {
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
  if (!oversubscribed_) {
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
  if (oversubscribed_) {
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
  if (!oversubscribed_) {
    MPI_Barrier(comm);
    return;
  }
  MPI_Request request;
  MPI_Ibarrier(comm, &request);
  finish(request);
}

bool WaitPolicy::all_agree(bool condition, MPI_Comm comm) const {
  int all = condition ? 1 : 0;
  if (!oversubscribed_) {
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm);
    return all != 0;
  }
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm, &request);
  finish(request);
  return all != 0;
}

}  // namespace hockney
