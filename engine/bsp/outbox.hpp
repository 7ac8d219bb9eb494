// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "bsp/records.hpp"

namespace hockney::bsp::inline v1 {

// Bytes from malloc that grow by realloc, which moves large blocks without copying them, so that memory that
// was never written is not used. Functions in parentheses are not SimGrid's macros.
class Bytes {
 public:
  Bytes() = default;
  ~Bytes() { (std::free)(data_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  Bytes(Bytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
  Bytes& operator=(Bytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }

  std::byte* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }
  // At least this capacity; the contents are kept. Throws std::bad_alloc.
  void reserve(std::size_t bytes);
  // The same without the contents.
  void replace(std::size_t bytes);
  void release() { *this = Bytes(); }

 private:
  std::byte* data_ = nullptr;
  std::size_t capacity_ = 0;
};

// A piece of a stream in memory that is shared with its receiver; the data follow.
struct Chunk {
  std::uint64_t next;  // offset of the next one in the sender's memory; 0: none
  std::uint64_t used;  // bytes of data
};

// The records of one kind for one process: first in shared memory, if there is any, then in `heap`.
struct Stream {
  std::byte* at = nullptr;   // where the next record begins
  std::byte* end = nullptr;  // of the current piece of memory
  std::byte* begin = nullptr;
  Chunk* chunk = nullptr;   // the current piece, if it is a chunk
  std::uint64_t first = 0;  // offset of the first chunk; 0: none
  bool in_heap = false;     // the current piece is `heap`
  Bytes heap;

  std::size_t room() const { return static_cast<std::size_t>(end - at); }
  std::size_t heap_bytes() const { return in_heap ? static_cast<std::size_t>(at - begin) : 0; }
  // Room for `bytes` more in `heap`, which begins here if it did not yet.
  void grow_heap(std::size_t bytes);
  // As if nothing had been written.
  void clear() {
    at = end = begin = nullptr;
    chunk = nullptr;
    first = 0;
    in_heap = false;
  }
};

// All that is on its way to one process.
struct Outbox {
  Stream streams[kinds];
  // The last put, if another one may be appended to its record: its record, and where it ends at the
  // receiver.
  std::byte* run = nullptr;
  std::uint64_t run_end = 0;
  std::uint32_t apart_puts = 0;
  bool active = false;     // something was written in this superstep
  std::uint64_t idle = 0;  // supersteps since `heap` was used
  // For the record of the superstep.
  std::uint64_t payload = 0;

  bool any_heap() const {
    return streams[puts].in_heap || streams[requests].in_heap || streams[messages].in_heap;
  }
  void clear() {
    for (Stream& stream : streams) stream.clear();
    run = nullptr;
    run_end = 0;
    apart_puts = 0;
    active = false;
    payload = 0;
  }
};

}  // namespace hockney::bsp::inline v1
