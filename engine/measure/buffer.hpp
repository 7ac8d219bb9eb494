// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "measure/arena.hpp"

namespace hockney {

// Memory for one message. A hot buffer has one slot, which every run reuses. A cold buffer is a ring of
// slots; over all ranks of a host, the rings are twice as large as the last-level cache, so a slot has been
// evicted before it is reused. A written buffer has as many slots as fit into a core's cache; its rank writes
// each slot after it was sent and before it is sent again, outside the timed region (Arena::renew).
// run() takes the next slot. fill() writes into the slot that run() will take; verify() reads the slot that
// it took.
class Buffer {
 public:
  // `heat` is "hot", "written" or "cold". Throws OutOfMemory.
  Buffer(Arena& arena, std::size_t bytes, const std::string& heat) : Buffer(arena, bytes, heat, true) {}
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // With a single slot, nothing is stored: two stores here made a 300 ns message 7% slower.
  std::byte* next() {
    if (slots_ == 1) return memory_;
    current_ = upcoming_;
    if (++upcoming_ == slots_) upcoming_ = 0;
    return memory_ + current_ * stride_;
  }
  std::span<std::byte> upcoming() { return {memory_ + upcoming_ * stride_, bytes_}; }
  std::span<const std::byte> current() const { return {memory_ + current_ * stride_, bytes_}; }
  std::size_t slots() const { return slots_; }
  // The slot that will be taken after `later` other slots.
  std::byte* slot_after(std::size_t later) { return memory_ + (upcoming_ + later) % slots_ * stride_; }

  // Writes each cache line of the slots that the next `runs` runs will take, leaving their contents
  // unchanged. For an incoming buffer, reads the slots that the last `runs` runs took.
  void renew(int runs);

 protected:
  Buffer(Arena& arena, std::size_t bytes, const std::string& heat, bool outgoing);

 private:
  Arena& arena_;
  std::size_t bytes_;
  std::size_t stride_;
  std::size_t slots_ = 1;
  std::size_t current_ = 0;
  std::size_t upcoming_ = 0;
  std::byte* memory_;
  const bool outgoing_;
  const bool written_;
};

// Memory for a received message, which its rank only reads.
class IncomingBuffer final : public Buffer {
 public:
  IncomingBuffer(Arena& arena, std::size_t bytes, const std::string& heat)
      : Buffer(arena, bytes, heat, false) {}
};

}  // namespace hockney
