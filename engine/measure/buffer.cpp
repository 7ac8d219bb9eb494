// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/buffer.hpp"

#include <algorithm>

#include "base/memory.hpp"

namespace hockney {
namespace {

// Small messages are kept apart, so that cold ones share neither cache lines nor adjacent lines that the
// prefetcher loads.
constexpr std::size_t min_stride = 512;
constexpr std::size_t max_ring_bytes = std::size_t{1} << 30;
// Limits for written slots: they must not exceed the part of a core's private cache left by the other
// direction's slots, nor the number that a batch of short messages needs. Slots are a cache line apart,
// because prefetching a neighbor only fetches lines that are already in the same cache.
constexpr std::size_t cache_line = 64;
constexpr std::size_t written_bytes = std::size_t{128} << 10;
constexpr std::size_t max_written_slots = 64;

std::size_t rounded_up(std::size_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

// A simulated machine has no caches, so written buffers are the same as hot ones.
bool is_written([[maybe_unused]] const std::string& heat) {
#ifdef HOCKNEY_SMPI
  return false;
#else
  return heat == "written";
#endif
}

std::size_t stride_for(std::size_t bytes, const std::string& heat) {
  return rounded_up(std::max<std::size_t>(bytes, 1), is_written(heat) ? cache_line : min_stride);
}

std::size_t slot_count_for(const std::string& heat, std::size_t stride, int ranks_on_host) {
  if (is_written(heat)) return std::clamp<std::size_t>(written_bytes / stride, 1, max_written_slots);
  if (heat != "cold") return 1;
  const std::size_t ring =
      std::min<std::size_t>(2 * last_level_cache() / static_cast<std::size_t>(ranks_on_host), max_ring_bytes);
  return std::max<std::size_t>(2, ring / stride);
}

}  // namespace

Buffer::Buffer(Arena& arena, std::size_t bytes, const std::string& heat, bool outgoing)
    : arena_(arena),
      bytes_(bytes),
      stride_(stride_for(bytes, heat)),
      slots_(slot_count_for(heat, stride_, arena.ranks_on_host())),
      memory_(arena.take(slots_ * stride_)),
      outgoing_(outgoing),
      written_(is_written(heat)) {
  if (written_) arena_.buffers_.push_back(this);
}

Buffer::~Buffer() {
  std::erase(arena_.buffers_, this);
  arena_.give_back(memory_);
}

// One store moves a whole line into this core's cache and invalidates it in all other caches.
void Buffer::renew(int runs) {
  const std::size_t slots = std::min(static_cast<std::size_t>(runs), slots_);
  const std::size_t first = outgoing_ ? upcoming_ : upcoming_ + slots_ - slots;
  for (std::size_t k = 0; k < slots; ++k) {
    volatile std::byte* const slot = memory_ + (first + k) % slots_ * stride_;
    for (std::size_t offset = 0; offset < bytes_; offset += cache_line) {
      const std::byte value = slot[offset];
      if (outgoing_) slot[offset] = value;
    }
  }
}

}  // namespace hockney
