// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/random.hpp"

namespace hockney {

// Writes the payload that rank `source` sends under `seed`: pseudo-random bytes, so that lost, duplicated or
// moved bytes, and bytes from another rank or an earlier repetition, are detected. `to` starts `words`
// eight-byte words after the start of the payload.
void write_payload(std::span<std::byte> to, std::uint64_t seed, std::uint64_t source, std::size_t words = 0);

// Offset of the first byte that differs from the output of write_payload, if any.
std::optional<std::size_t> check_payload(std::span<const std::byte> actual, std::uint64_t seed,
                                         std::uint64_t source, std::size_t words = 0);

// Increment of the payload sequences.
constexpr std::uint64_t weyl_step = 0x9E3779B97F4A7C15U;

// Element `index` of a vector to be reduced, before scaling by rank + 1: an integer from 0 to 1023, small
// enough for exact sums. Inline, because vectors are long.
inline double reduction_element(std::uint64_t seed, std::size_t index) {
  return static_cast<double>(static_cast<std::int64_t>((mix(seed) + index * weyl_step) >> 54));
}

}  // namespace hockney
