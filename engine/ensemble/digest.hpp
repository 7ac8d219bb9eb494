// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/random.hpp"

namespace hockney::annealing {

// Part of a digest. Parts are added up in any order; each depends on the position of its value.
inline std::uint64_t digest_of(std::uint64_t group, std::uint64_t position, double value) {
  return mix(mix(mix(group) + position) + std::bit_cast<std::uint64_t>(value));
}

// FNV-1a, a hash of bytes (Fowler, Noll, Vo).
inline std::uint64_t hash(std::span<const std::byte> bytes) {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const std::byte byte : bytes) value = (value ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3U;
  return value;
}

}  // namespace hockney::annealing
