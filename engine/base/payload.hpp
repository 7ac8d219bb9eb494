// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace hockney {

// The payload that rank `source` sends under `seed`: pseudo-random bytes, so that a byte lost, doubled, moved
// or taken from another rank or an earlier repetition is seen.
void write_payload(std::span<std::byte> to, std::uint64_t seed, std::uint64_t source);

// Offset of the first byte that differs from what write_payload would have written, if any.
std::optional<std::size_t> check_payload(std::span<const std::byte> actual, std::uint64_t seed,
                                         std::uint64_t source);

// Element `index` of a vector to be reduced, before it is scaled by
// rank + 1: a whole number small enough for exact sums.
double reduction_element(std::uint64_t seed, std::size_t index);

}  // namespace hockney
