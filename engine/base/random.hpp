// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hockney {

// SplitMix64 (Steele, Lea, Flood 2014): a bijection of the counter, so any word can be generated without its
// predecessors.
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

// A number in the open interval (0, 1) that depends on `seed` and `index` only: the same on every rank and
// every machine.
inline double uniform(std::uint64_t seed, std::uint64_t index) {
  return (static_cast<double>(mix(mix(seed) ^ index) >> 11) + 0.5) * 0x1p-53;
}

}  // namespace hockney
