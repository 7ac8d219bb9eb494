// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/shared.hpp"

#include <cstdint>

namespace hockney {

bool on_one_node(MPI_Comm comm) {
#ifdef HOCKNEY_SMPI
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size == 1;  // a simulated rank has a node of its own, whatever host simulates it
#else
  MPI_Comm node;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int here = 1, all = 1;
  MPI_Comm_size(node, &here);
  MPI_Comm_size(comm, &all);
  MPI_Comm_free(&node);
  int same = here == all ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, comm);
  return same != 0;
#endif
}

SharedFlags::SharedFlags(MPI_Comm comm, int flags)
    : flags_(static_cast<std::size_t>(flags)), patience_(comm) {
  if (!on_one_node(comm)) throw Refusal("its ranks are on several nodes, which share no memory");
  MPI_Comm_dup(comm, &comm_);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  // Rank 0 brings all of it, so that it is in one piece; the room is for aligning, as MPI promises 8 bytes.
  const MPI_Aint bytes =
      rank_ == 0 ? static_cast<MPI_Aint>((static_cast<std::size_t>(size_) * flags_ + 1) * sizeof(Flag)) : 0;
  void* mine = nullptr;
  MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, comm_, &mine, &window_);
  MPI_Aint all = 0;
  int unit = 0;
  void* first = nullptr;
  MPI_Win_shared_query(window_, 0, &all, &unit, &first);
  // By its offset, since the ranks may see it at different addresses: pages are aligned alike everywhere.
  std::uintptr_t start = reinterpret_cast<std::uintptr_t>(first);
  start = (start + alignof(Flag) - 1) / alignof(Flag) * alignof(Flag);
  base_ = reinterpret_cast<Flag*>(start);
  if (rank_ == 0)
    for (std::size_t k = 0; k < static_cast<std::size_t>(size_) * flags_; ++k) new (&base_[k]) Flag{};
  MPI_Barrier(comm_);
}

SharedFlags::~SharedFlags() {
  MPI_Win_free(&window_);
  MPI_Comm_free(&comm_);
}

}  // namespace hockney
