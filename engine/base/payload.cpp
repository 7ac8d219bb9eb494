// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/payload.hpp"

#include <algorithm>
#include <cstring>

namespace hockney {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): a bijection of the counter, so any word can be made without the ones before.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

std::uint64_t stream(std::uint64_t seed, std::uint64_t source) { return mix(seed ^ mix(source)); }

}  // namespace

void write_payload(std::span<std::byte> to, std::uint64_t seed, std::uint64_t source) {
  const std::uint64_t base = stream(seed, source);
  for (std::size_t at = 0; at < to.size(); at += 8) {
    const std::uint64_t word = mix(base + at);
    std::memcpy(to.data() + at, &word, std::min<std::size_t>(8, to.size() - at));
  }
}

std::optional<std::size_t> check_payload(std::span<const std::byte> found, std::uint64_t seed, std::uint64_t source) {
  const std::uint64_t base = stream(seed, source);
  for (std::size_t at = 0; at < found.size(); at += 8) {
    const std::uint64_t word = mix(base + at);
    const std::size_t length = std::min<std::size_t>(8, found.size() - at);
    if (std::memcmp(found.data() + at, &word, length) == 0) continue;
    std::byte wanted[8];
    std::memcpy(wanted, &word, sizeof wanted);
    std::size_t offset = 0;
    while (found[at + offset] == wanted[offset]) ++offset;
    return at + offset;
  }
  return std::nullopt;
}

double reduction_element(std::uint64_t seed, std::size_t index) {
  return static_cast<double>(mix(seed + index) >> 54);  // 0 .. 1023
}

}  // namespace hockney
