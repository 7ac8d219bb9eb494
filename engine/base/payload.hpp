// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/random.hpp"

namespace hockney {

// The payload that rank `source` sends under `seed`: pseudo-random bytes, so that a byte lost, doubled, moved
// or taken from another rank or an earlier repetition is seen.
// `to` begins `words` words of eight bytes after the beginning of the payload.
void write_payload(std::span<std::byte> to, std::uint64_t seed, std::uint64_t source, std::size_t words = 0);

// Offset of the first byte that differs from what write_payload would have written, if any.
std::optional<std::size_t> check_payload(std::span<const std::byte> actual, std::uint64_t seed,
                                         std::uint64_t source, std::size_t words = 0);

// The step of the sequences that payloads consist of.
constexpr std::uint64_t weyl_step = 0x9E3779B97F4A7C15U;

// Element `index` of a vector to be reduced, before it is scaled by rank + 1: a whole number small enough for
// exact sums, 0 to 1023. Inline, because vectors are long.
inline double reduction_element(std::uint64_t seed, std::size_t index) {
  return static_cast<double>(static_cast<std::int64_t>((mix(seed) + index * weyl_step) >> 54));
}

}  // namespace hockney
