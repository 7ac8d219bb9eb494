// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/buffer.hpp"

#include <algorithm>

#include "base/memory.hpp"

namespace hockney {
namespace {

// Small messages are kept apart, so that cold ones share neither cache lines nor adjacent lines that the
// prefetcher loads.
constexpr std::size_t smallest_stride = 512;
constexpr std::size_t largest_ring = std::size_t{1} << 30;
// Written slots: together no more than a part of a core's own cache, which also holds those of the other
// direction, and no more than a batch of short messages needs. A line apart, since prefetching a neighbor
// fetches what is in the same cache.
constexpr std::size_t cache_line = 64;
constexpr std::size_t written_bytes = std::size_t{128} << 10;
constexpr std::size_t most_written = 64;

std::size_t rounded_up(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

// A simulated machine has no caches: what is written is as good as hot.
bool is_written(const std::string& heat) {
#ifdef HOCKNEY_SMPI
  return false;
#else
  return heat == "written";
#endif
}

std::size_t stride_of(std::size_t bytes, const std::string& heat) {
  return rounded_up(std::max<std::size_t>(bytes, 1), is_written(heat) ? cache_line : smallest_stride);
}

std::size_t places_of(const std::string& heat, std::size_t stride, int sharing) {
  if (is_written(heat)) return std::clamp<std::size_t>(written_bytes / stride, 1, most_written);
  if (heat != "cold") return 1;
  const std::size_t ring =
      std::min<std::size_t>(2 * last_level_cache() / static_cast<std::size_t>(sharing), largest_ring);
  return std::max<std::size_t>(2, ring / stride);
}

}  // namespace

Buffer::Buffer(Arena& arena, std::size_t bytes, const std::string& heat, bool outgoing)
    : arena_(arena),
      bytes_(bytes),
      stride_(stride_of(bytes, heat)),
      places_(places_of(heat, stride_, arena.sharing())),
      memory_(arena.take(places_ * stride_)),
      outgoing_(outgoing),
      written_(is_written(heat)) {
  if (written_) arena_.buffers_.push_back(this);
}

Buffer::~Buffer() {
  std::erase(arena_.buffers_, this);
  arena_.give_back(memory_);
}

// One store moves a whole line into this core's cache, and invalidates it in the others.
void Buffer::renew(int runs) {
  const std::size_t slots = std::min(static_cast<std::size_t>(runs), places_);
  const std::size_t first = outgoing_ ? upcoming_ : upcoming_ + places_ - slots;
  for (std::size_t k = 0; k < slots; ++k) {
    volatile std::byte* const slot = memory_ + (first + k) % places_ * stride_;
    for (std::size_t at = 0; at < bytes_; at += cache_line) {
      const std::byte value = slot[at];
      if (outgoing_) slot[at] = value;
    }
  }
}

}  // namespace hockney
