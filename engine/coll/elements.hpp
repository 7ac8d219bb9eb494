// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>
#include <memory>

namespace hockney::coll {

// Uninitialised memory for `count` elements of `type`.
class Elements {
 public:
  Elements(long long count, MPI_Datatype type) {
    MPI_Aint lower_bound = 0, extent = 0, true_low = 0, true_extent = 0;
    MPI_Type_get_extent(type, &lower_bound, &extent);
    MPI_Type_get_true_extent(type, &true_low, &true_extent);
    const std::size_t bytes =
        count == 0 ? 0
                   : static_cast<std::size_t>(true_extent) +
                         static_cast<std::size_t>(count - 1) * static_cast<std::size_t>(extent);
    // The address passed to MPI lies within this memory, even if the elements begin after it or before it.
    const auto bytes_before = static_cast<std::size_t>(std::max<MPI_Aint>(0, -true_low));
    const auto bytes_after = static_cast<std::size_t>(std::max<MPI_Aint>(0, true_low)) + bytes;
    memory_.reset(new std::byte[std::max(bytes_before, bytes_after) + 1]);
    first_ = memory_.get() + bytes_before;
  }

  void* data() const { return first_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::byte* first_;
};

// A buffer of blocks of `count` elements each.
struct Blocks {
  Blocks(const void* data, int elements, MPI_Datatype element)
      : first(static_cast<const char*>(data)), count(elements), type(element) {
    MPI_Aint lower_bound = 0;
    MPI_Type_get_extent(type, &lower_bound, &extent);
  }

  // MPI's send buffers are const, but its receive buffers are not.
  void* operator[](long long block) const { return const_cast<char*>(first) + extent * count * block; }

  const char* first;
  int count;
  MPI_Datatype type;
  MPI_Aint extent = 0;
};

// A message of `blocks` blocks of `elements` elements, as an MPI count and type. If the number of elements
// exceeds an int, the type is that of a block.
class BlockMessage {
 public:
  BlockMessage(int blocks, int elements, MPI_Datatype element)
      : count(fits(blocks, elements) ? blocks * elements : blocks),
        type(element),
        owns_type_(!fits(blocks, elements)) {
    if (!owns_type_) return;
    MPI_Type_contiguous(elements, element, &type);
    MPI_Type_commit(&type);
  }
  ~BlockMessage() {
    if (owns_type_) MPI_Type_free(&type);
  }
  BlockMessage(const BlockMessage&) = delete;
  BlockMessage& operator=(const BlockMessage&) = delete;

  const int count;
  MPI_Datatype type;

 private:
  static bool fits(int blocks, int elements) { return static_cast<long long>(blocks) * elements <= INT_MAX; }

  const bool owns_type_;
};

// Copies `count` elements of `type` on this rank.
inline void copy(const void* from, void* to, long long count, MPI_Datatype type) {
  int size = 0;
  MPI_Aint lower_bound = 0, extent = 0, true_low = 0, true_extent = 0;
  MPI_Type_size(type, &size);
  MPI_Type_get_extent(type, &lower_bound, &extent);
  MPI_Type_get_true_extent(type, &true_low, &true_extent);
  if (size == extent && extent == true_extent && true_low == 0) {
    if (count > 0) std::memcpy(to, from, static_cast<std::size_t>(size) * static_cast<std::size_t>(count));
    return;
  }
  // Packed in parts: a message to this rank itself could match a receive of the calling program.
  if (size == 0) return;
  const long long length = std::max<long long>(65536 / size, 1);
  const std::unique_ptr<std::byte[]> packed(
      new std::byte[static_cast<std::size_t>(std::min(length, count)) * static_cast<std::size_t>(size)]);
  for (long long copied = 0; copied < count; copied += length) {
    const int part = static_cast<int>(std::min(count - copied, length));
    int end = 0, start = 0;
    MPI_Pack(static_cast<const char*>(from) + extent * copied, part, type, packed.get(), part * size, &end,
             MPI_COMM_SELF);
    MPI_Unpack(packed.get(), end, &start, static_cast<char*>(to) + extent * copied, part, type,
               MPI_COMM_SELF);
  }
}

// Copies `blocks` blocks into a buffer whose type may differ but has the same signature.
inline void copy(const Blocks& from, int source, const Blocks& to, int target, int blocks) {
  if (from.type == to.type) {
    copy(from[source], to[target], static_cast<long long>(blocks) * from.count, from.type);
    return;
  }
  for (int block = 0; block < blocks; ++block)
    MPI_Sendrecv(from[source + block], from.count, from.type, 0, 0, to[target + block], to.count, to.type, 0,
                 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

// Divides `count` elements into `parts` parts whose lengths differ by at most one; some may be empty.
struct Parts {
  int first(int part) const { return static_cast<int>(static_cast<long long>(count) * part / parts); }
  int length(int part, int following = 1) const { return first(part + following) - first(part); }

  int count;
  int parts;
};

// The operation of a reduction, applied to vectors.
struct Combination {
  Combination(MPI_Datatype element, MPI_Op operation) : type(element), op(operation) {
    MPI_Op_commutative(op, &commutes);
  }

  // Combines `received_data` into `own_data`. The data of lower ranks are the left operand, which
  // MPI_Reduce_local takes first; with noncommutative operations, `received_data` may be overwritten.
  int operator()(void* received_data, void* own_data, int count, bool from_lower_ranks) const {
    if (commutes || from_lower_ranks) return MPI_Reduce_local(received_data, own_data, count, type, op);
    const int error = MPI_Reduce_local(own_data, received_data, count, type, op);
    copy(received_data, own_data, count, type);
    return error;
  }

  MPI_Datatype type;
  MPI_Op op;
  int commutes = 0;
};

}  // namespace hockney::coll
