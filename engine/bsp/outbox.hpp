// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "bsp/records.hpp"

namespace hockney::bsp::inline v1 {

// Memory from malloc that grows by realloc, which moves large blocks without copying them, so that pages
// never written are not used. Functions are in parentheses to avoid SimGrid's macros.
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
  // Ensures at least this capacity, and keeps the contents. Throws std::bad_alloc.
  void reserve(std::size_t bytes);
  // The same, but discards the contents.
  void replace(std::size_t bytes);
  void release() { *this = Bytes(); }

 private:
  std::byte* data_ = nullptr;
  std::size_t capacity_ = 0;
};

// A piece of a stream in memory shared with its receiver; the data follow.
struct Chunk {
  std::uint64_t next;  // offset of the next chunk in the sender's memory; 0: none
  std::uint64_t used;  // bytes of data
};

// The records of one kind for one process: first in shared memory, if there is any, then in `heap`.
struct Stream {
  std::byte* at = nullptr;   // start of the next record
  std::byte* end = nullptr;  // end of the current memory
  std::byte* begin = nullptr;
  Chunk* chunk = nullptr;   // the current chunk, if the memory is a chunk
  std::uint64_t first = 0;  // offset of the first chunk; 0: none
  bool is_in_heap = false;  // whether the current memory is `heap`
  Bytes heap;

  std::size_t room() const { return static_cast<std::size_t>(end - at); }
  std::size_t heap_bytes() const { return is_in_heap ? static_cast<std::size_t>(at - begin) : 0; }
  // Makes space for `bytes` more in `heap`, which starts here if it has not yet been used.
  void grow_heap(std::size_t bytes);
  // Resets the stream to its initial state.
  void clear() {
    at = end = begin = nullptr;
    chunk = nullptr;
    first = 0;
    is_in_heap = false;
  }
};

// All data for one process.
struct Outbox {
  Stream streams[kinds];
  // The last put, if another put may be appended to its record: the record, and the end of its data at the
  // receiver.
  std::byte* run = nullptr;
  std::uint64_t run_end = 0;
  std::uint32_t separate_puts = 0;
  bool active = false;     // written to in this superstep
  std::uint64_t idle = 0;  // supersteps since `heap` was used
  // Counted for the record of the superstep.
  std::uint64_t payload = 0;

  bool uses_heap() const {
    return streams[puts].is_in_heap || streams[requests].is_in_heap || streams[messages].is_in_heap;
  }
  void clear() {
    for (Stream& stream : streams) stream.clear();
    run = nullptr;
    run_end = 0;
    separate_puts = 0;
    active = false;
    payload = 0;
  }
};

}  // namespace hockney::bsp::inline v1
