// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstring>
#include <memory>

namespace hockney::coll {

// Room for `count` elements of `type`, not initialised.
class Elements {
 public:
  Elements(int count, MPI_Datatype type) {
    MPI_Aint low = 0, extent = 0, true_low = 0, true_extent = 0;
    MPI_Type_get_extent(type, &low, &extent);
    MPI_Type_get_true_extent(type, &true_low, &true_extent);
    const std::size_t bytes =
        count == 0 ? 0
                   : static_cast<std::size_t>(true_extent) +
                         static_cast<std::size_t>(count - 1) * static_cast<std::size_t>(extent);
    memory_.reset(new std::byte[bytes + 1]);
    first_ = memory_.get() - true_low;
  }

  void* data() const { return first_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::byte* first_;
};

// `count` elements of `type`, on this rank.
inline void copy(const void* from, void* to, int count, MPI_Datatype type) {
  int size = 0;
  MPI_Aint low = 0, extent = 0, true_low = 0, true_extent = 0;
  MPI_Type_size(type, &size);
  MPI_Type_get_extent(type, &low, &extent);
  MPI_Type_get_true_extent(type, &true_low, &true_extent);
  if (size == extent && extent == true_extent && true_low == 0) {
    if (count > 0) std::memcpy(to, from, static_cast<std::size_t>(size) * static_cast<std::size_t>(count));
    return;
  }
  MPI_Sendrecv(from, count, type, 0, 0, to, count, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

}  // namespace hockney::coll
