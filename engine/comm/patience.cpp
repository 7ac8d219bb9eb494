// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/patience.hpp"

#include <sched.h>

#include <vector>

namespace hockney {
namespace {

// Looks before a crowded rank gives its core away: what comes at once is not worth a system call.
constexpr int looks_in_a_row = 16;

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

}  // namespace

NodeLayout layout_of_this_node(MPI_Comm comm) {
#ifdef HOCKNEY_SMPI
  // Every simulated rank has a core, and the host's are none of its business.
  int size = 1;
  MPI_Comm_size(comm, &size);
  return {size, size};
#else
  MPI_Comm node;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  NodeLayout found{1, 1};
  MPI_Comm_size(node, &found.ranks);
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (sched_getaffinity(0, sizeof mine, &mine) == 0) {
    cpu_set_t all;
    MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, node);
    found.cores = CPU_COUNT(&all);
  }
  MPI_Comm_free(&node);
  return found;
#endif
}

Patience::Patience(MPI_Comm comm) {
  const NodeLayout layout = layout_of_this_node(comm);
  crowded_ = layout.ranks > layout.cores;
}

void Patience::pause(int looked) const {
  if (crowded_ && looked >= looks_in_a_row)
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

}  // namespace hockney
