// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/buffer.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/memory.hpp"
#include "base/refusal.hpp"

namespace hockney {
namespace {

// Page alignment: the same place relative to pages and cache lines in every launch.
constexpr std::size_t alignment = 4096;
// Small messages keep a distance, so that cold ones do not share lines or neighbours that the prefetcher brings along.
constexpr std::size_t smallest_stride = 512;
constexpr std::size_t largest_ring = std::size_t{1} << 30;

std::size_t rounded_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

void Buffer::Free::operator()(std::byte* memory) const { std::free(memory); }

Buffer::Buffer(std::size_t bytes, const std::string& heat, int sharing)
    : bytes_(bytes), stride_(rounded_up(std::max<std::size_t>(bytes, 1), smallest_stride)) {
  const auto ranks = static_cast<std::size_t>(std::max(1, sharing));
  if (heat == "cold") {
    const std::size_t ring = std::min<std::size_t>(2 * last_level_cache() / ranks, largest_ring);
    places_ = std::max<std::size_t>(2, ring / stride_);
  }
  const std::size_t total = rounded_up(places_ * stride_, alignment);
  // Memory that is only promised kills a rank when it is touched, so ask first. A tenth stays for everybody else.
  if (total > available_memory() / ranks / 10 * 9)
    throw OutOfMemory("a buffer of " + std::to_string(total) + " bytes on each of " + std::to_string(ranks) +
                      " ranks does not fit into this host's memory");
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, total)));
  if (!memory_) throw OutOfMemory("a buffer of " + std::to_string(total) + " bytes cannot be allocated");
  std::memset(memory_.get(), 0x5A, total);
}

}  // namespace hockney
