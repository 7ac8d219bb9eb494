// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

#if defined(__linux__) && !defined(HOCKNEY_SMPI)
#include <sys/mman.h>
#endif

namespace hockney::npb {

// Checks that the host has memory for this many bytes on each of its `ranks_on_host` ranks, before they are
// allocated and written. Throws OutOfMemory if it does not; the system would only notice later.
void require_memory(std::size_t bytes, int ranks_on_host);

// Uninitialised memory for numbers. Loads of vector registers never cross a cache line; large arrays are in
// huge pages if the system provides them.
template <class T>
class Array {
  static_assert(std::is_trivially_default_constructible_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Array() = default;
  explicit Array(std::size_t size)
      : size_(size), data_(static_cast<T*>(::operator new(size * sizeof(T), alignment(size)))) {
    data_.get_deleter().alignment = alignment(size);
#if defined(__linux__) && !defined(HOCKNEY_SMPI) && defined(MADV_HUGEPAGE)
    if (alignment(size) == huge_page) madvise(data(), size * sizeof(T), MADV_HUGEPAGE);
#endif
  }

  std::size_t size() const { return size_; }
  T* data() const { return data_.get(); }
  T* begin() const { return data(); }
  T* end() const { return data() + size_; }
  T& operator[](std::size_t i) const { return data()[i]; }

 private:
  static constexpr std::align_val_t cache_line{64}, huge_page{std::size_t{2} << 20};
  static std::align_val_t alignment(std::size_t size) {
    return size * sizeof(T) >= 2 * static_cast<std::size_t>(huge_page) ? huge_page : cache_line;
  }
  struct Free {
    std::align_val_t alignment = cache_line;
    void operator()(T* data) const { ::operator delete(data, alignment); }
  };

  std::size_t size_ = 0;
  std::unique_ptr<T, Free> data_;
};

}  // namespace hockney::npb
