// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "bsp/outbox.hpp"

#include <algorithm>
#include <new>

namespace hockney::bsp::inline v1 {

namespace {
constexpr std::size_t smallest = 512;
}

void Bytes::reserve(std::size_t bytes) {
  if (bytes <= capacity_) return;
  const std::size_t more = std::max({bytes, capacity_ + capacity_ / 2, smallest});
  void* const moved = std::realloc(data_, more);
  if (!moved) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(moved);
  capacity_ = more;
}

void Bytes::replace(std::size_t bytes) {
  if (bytes <= capacity_) return;
  release();
  reserve(bytes);
}

void Stream::grow_heap(std::size_t bytes) {
  const std::size_t used = heap_bytes();
  heap.reserve(used + bytes);
  begin = heap.data();
  at = begin + used;
  end = begin + heap.capacity();
  in_heap = true;
  chunk = nullptr;
}

}  // namespace hockney::bsp::inline v1
