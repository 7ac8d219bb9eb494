// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/shared.hpp"

#include <climits>
#include <cstdint>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#else
#include <sched.h>
#endif

namespace hockney {

void require_shared_memory() {
#ifdef HOCKNEY_SMPI
  throw InvalidCase(
      "simulated ranks cannot poll memory (simulated time does not advance meanwhile); use a message-based "
      "barrier");
#endif
}

SharedFlags::SharedFlags(MPI_Comm comm, int flags)
    : flags_(static_cast<std::size_t>(flags)), wait_policy_(comm) {
  require_shared_memory();
  if (!local_node_layout(comm).on_one_node)
    throw InvalidCase("its ranks are on several nodes, which do not share memory");
  comm_ = wait_policy_.duplicate(comm);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  // Rank 0 allocates everything, so that it is contiguous. The extra bytes are for alignment, as MPI only
  // guarantees 8 bytes.
  const MPI_Aint bytes =
      rank_ == 0 ? static_cast<MPI_Aint>((static_cast<std::size_t>(size_) * flags_ + 1) * sizeof(Flag)) : 0;
  void* mine = nullptr;
  try {
    window_ = make_window(comm_, wait_policy_, [&](MPI_Win* window) {
      return MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, comm_, &mine, window);
    });
  } catch (const InvalidCase&) {
    MPI_Comm_free(&comm_);
    throw;
  }
  MPI_Aint all = 0;
  int unit = 0;
  void* first = nullptr;
  MPI_Win_shared_query(window_, 0, &all, &unit, &first);
  // Located by offset, since ranks may map it at different addresses; pages are aligned alike everywhere.
  std::uintptr_t start = reinterpret_cast<std::uintptr_t>(first);
  start = (start + alignof(Flag) - 1) / alignof(Flag) * alignof(Flag);
  base_ = reinterpret_cast<Flag*>(start);
  if (rank_ == 0)
    for (std::size_t k = 0; k < static_cast<std::size_t>(size_) * flags_; ++k) new (&base_[k]) Flag{};
  wait_policy_.meet(comm_);
}

SharedFlags::~SharedFlags() {
  MPI_Win_free(&window_);
  MPI_Comm_free(&comm_);
}

#ifdef __linux__
// Not a private futex: the waiting ranks are processes.
void SharedFlags::sleep_while(Flag& flag, std::uint32_t value) {
  const timespec millisecond{0, 1'000'000};
  syscall(SYS_futex, &flag.value, FUTEX_WAIT, value, &millisecond, nullptr, 0);
}
void SharedFlags::wake_all(Flag& flag) {
  syscall(SYS_futex, &flag.value, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}
#else
void SharedFlags::sleep_while(Flag&, std::uint32_t) {
  sched_yield();
}
void SharedFlags::wake_all(Flag&) {}
#endif

}  // namespace hockney
