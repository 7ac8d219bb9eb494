// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "library/coll/packed.hpp"

#include "library/coll/arguments.hpp"
#include "library/coll/types.hpp"

namespace hockney {
Packed::Packed(const void* data, int count, MPI_Datatype type, int blocks)
    : data_(const_cast<void*>(data)), count_(count), type_(type), blocks_(blocks) {
  if (data == MPI_IN_PLACE || types::is_dense(type)) return;
  int size = 0;
  MPI_Aint low = 0;
  MPI_Type_size(type, &size);
  MPI_Type_get_extent(type, &low, &extent_);
  bytes_ = size * count;
  copy_.reset(new std::byte[static_cast<std::size_t>(bytes_) * static_cast<std::size_t>(blocks)]);
}

int Packed::pack() {
  for (int k = 0; copy_ && k < blocks_; ++k) {
    int end = 0;
    std::byte* const to = copy_.get() + static_cast<std::ptrdiff_t>(bytes_) * k;
    const int error = MPI_Pack(block(k), count_, type_, to, bytes_, &end, arguments::error_returning_comm());
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

int Packed::unpack() const {
  for (int k = 0; copy_ && k < blocks_; ++k) {
    int end = 0;
    const std::byte* const from = copy_.get() + static_cast<std::ptrdiff_t>(bytes_) * k;
    const int error =
        MPI_Unpack(from, bytes_, &end, block(k), count_, type_, arguments::error_returning_comm());
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace hockney
