// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "measure/arena.hpp"

namespace hockney {

// Memory for one message. Hot: one slot, used again and again. Cold: a ring of slots that over all ranks of a
// host are together twice as large as its last-level cache, so that a slot has been evicted when its turn
// comes again. Written: as many slots as stay in a core's cache, of which each is written by its rank after
// it was sent and before it is sent again; the engine does so outside the timed part (Arena::renew).
//
// run() takes the next slot; fill() writes into the one that run() will take, verify() reads the one it took.
class Buffer {
 public:
  // `heat` is "hot", "written" or "cold". Throws OutOfMemory.
  Buffer(Arena& arena, std::size_t bytes, const std::string& heat) : Buffer(arena, bytes, heat, true) {}
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // Nothing is written if there is only one slot: two stores here made a 300 ns message 7% slower.
  std::byte* next() {
    if (places_ == 1) return memory_;
    current_ = upcoming_;
    if (++upcoming_ == places_) upcoming_ = 0;
    return memory_ + current_ * stride_;
  }
  std::span<std::byte> upcoming() { return {memory_ + upcoming_ * stride_, bytes_}; }
  std::span<const std::byte> taken() const { return {memory_ + current_ * stride_, bytes_}; }
  std::size_t places() const { return places_; }
  // The slot that will be taken after `later` others.
  std::byte* place_after(std::size_t later) { return memory_ + (upcoming_ + later) % places_ * stride_; }

  // Writes each cache line of the slots that the next `runs` runs will take, with the bytes that are there;
  // of an incoming buffer, reads those that as many runs have taken.
  void renew(int runs);

 protected:
  Buffer(Arena& arena, std::size_t bytes, const std::string& heat, bool outgoing);

 private:
  Arena& arena_;
  std::size_t bytes_;
  std::size_t stride_;
  std::size_t places_ = 1;
  std::size_t current_ = 0;
  std::size_t upcoming_ = 0;
  std::byte* memory_;
  const bool outgoing_;
  const bool written_;
};

// Memory for a message that is received: its rank only reads it.
class IncomingBuffer final : public Buffer {
 public:
  IncomingBuffer(Arena& arena, std::size_t bytes, const std::string& heat)
      : Buffer(arena, bytes, heat, false) {}
};

}  // namespace hockney
