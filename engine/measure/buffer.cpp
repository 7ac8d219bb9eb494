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

std::size_t rounded_up(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

std::size_t places_of(const std::string& heat, std::size_t stride, int sharing) {
  if (heat != "cold") return 1;
  const std::size_t ring =
      std::min<std::size_t>(2 * last_level_cache() / static_cast<std::size_t>(sharing), largest_ring);
  return std::max<std::size_t>(2, ring / stride);
}

}  // namespace

Buffer::Buffer(Arena& arena, std::size_t bytes, const std::string& heat)
    : arena_(arena),
      bytes_(bytes),
      stride_(rounded_up(std::max<std::size_t>(bytes, 1), smallest_stride)),
      places_(places_of(heat, stride_, arena.sharing())),
      memory_(arena.take(places_ * stride_)) {}

}  // namespace hockney
