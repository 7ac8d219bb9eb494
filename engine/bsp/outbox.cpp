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
// An MPI that copies between processes in a single step has to find each page of the other process: with huge
// pages that takes a third of the time.
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
  const std::size_t more = std::max({bytes, capacity_ + capacity_ / 2, smallest});
  void* const moved = (std::realloc)(data_, more);
  if (!moved) throw std::bad_alloc();
  if (more >= worth_huge_pages) ask_for_huge_pages(moved, more);
  data_ = static_cast<std::byte*>(moved);
  capacity_ = more;
}

void Bytes::replace(std::size_t bytes) {
  if (bytes <= capacity_) return;
  release();
  if (bytes < worth_huge_pages) {
    reserve(bytes);
    return;
  }
  const std::size_t whole = (bytes + huge_page - 1) / huge_page * huge_page;
  void* const made = std::aligned_alloc(huge_page, whole);
  if (!made) throw std::bad_alloc();
  ask_for_huge_pages(made, whole);
  data_ = static_cast<std::byte*>(made);
  capacity_ = whole;
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
