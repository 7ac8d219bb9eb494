// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace hockney {

// Memory for one message. Hot: one place, used again and again. Cold: a ring of places which together are twice as large as
// the last-level cache, so that a place has left the caches when its turn comes again.
//
// run() takes the next place; fill() writes into the one that run() will take, verify() reads the one it took.
class Buffer {
 public:
  // `heat` is "hot" or "cold", `sharing` the ranks on this host. Throws OutOfMemory.
  Buffer(std::size_t bytes, const std::string& heat, int sharing);

  std::byte* next() {
    current_ = upcoming_;
    if (++upcoming_ == places_) upcoming_ = 0;
    return memory_.get() + current_ * stride_;
  }
  std::span<std::byte> upcoming() { return {memory_.get() + upcoming_ * stride_, bytes_}; }
  std::span<const std::byte> taken() const { return {memory_.get() + current_ * stride_, bytes_}; }
  std::size_t places() const { return places_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };

  std::size_t bytes_;
  std::size_t stride_;
  std::size_t places_ = 1;
  std::size_t current_ = 0;
  std::size_t upcoming_ = 0;
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace hockney
