// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "bsp/outbox.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdint>
#include <new>

namespace hockney::bsp::inline v1 {

namespace {

constexpr std::size_t smallest = 512;
// An MPI that copies between processes in a single step must look up each page of the other process; with
// huge pages this takes a third of the time.
constexpr std::size_t huge_page = std::size_t{2} << 20, worth_huge_pages = std::size_t{512} << 10;

void ask_for_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  const auto first = (reinterpret_cast<std::uintptr_t>(memory) + huge_page - 1) / huge_page * huge_page;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / huge_page * huge_page;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
#endif
}

}  // namespace

void Bytes::reserve(std::size_t bytes) {
  if (bytes <= capacity_) return;
  const std::size_t new_capacity = std::max({bytes, capacity_ + capacity_ / 2, smallest});
  void* const reallocated = (std::realloc)(data_, new_capacity);
  if (!reallocated) throw std::bad_alloc();
  if (new_capacity >= worth_huge_pages) ask_for_huge_pages(reallocated, new_capacity);
  data_ = static_cast<std::byte*>(reallocated);
  capacity_ = new_capacity;
}

void Bytes::replace(std::size_t bytes) {
  if (bytes <= capacity_) return;
  release();
  if (bytes < worth_huge_pages) {
    reserve(bytes);
    return;
  }
  const std::size_t rounded_bytes = (bytes + huge_page - 1) / huge_page * huge_page;
  void* const memory = std::aligned_alloc(huge_page, rounded_bytes);
  if (!memory) throw std::bad_alloc();
  ask_for_huge_pages(memory, rounded_bytes);
  data_ = static_cast<std::byte*>(memory);
  capacity_ = rounded_bytes;
}

void Stream::grow_heap(std::size_t bytes) {
  const std::size_t used = heap_bytes();
  heap.reserve(used + bytes);
  begin = heap.data();
  at = begin + used;
  end = begin + heap.capacity();
  is_in_heap = true;
  chunk = nullptr;
}

}  // namespace hockney::bsp::inline v1
