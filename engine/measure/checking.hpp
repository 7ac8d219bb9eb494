// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "measure/buffer.hpp"
#include "measure/workload.hpp"

// Functions that most patterns use in fill() and verify().
namespace hockney {

// The payload source for messages from rank `from` to rank `target`, if each pair of ranks has a separate
// payload.
inline std::uint64_t channel(const Comm& comm, int from, int target) {
  return static_cast<std::uint64_t>(from) * static_cast<std::uint64_t>(comm.size) +
         static_cast<std::uint64_t>(target);
}

// Writes the payload of `source` into `target`.
void write_bytes(std::span<std::byte> target, const Payload& payload, std::uint64_t source);

// Writes a pattern that write_bytes never produces, so that a missing message is detected.
void spoil(std::span<std::byte> target, const Payload& payload);

// Compares the written part of `actual` with the payload of `source`; `description` names the data in the
// error message.
Check check_bytes(std::span<const std::byte> actual, const Payload& payload, std::uint64_t source,
                  const char* description);

// The same comparison for doubles: element i must be scale * reduction_element(seed, first + i).
Check check_reduced(std::span<const std::byte> actual, const Payload& payload, std::size_t first,
                    double scale, const char* description);

// Writes this rank's contribution to a reduction, rank + 1 times reduction_element. Every element is written,
// because the time of a sum depends on its operands: adding subnormal numbers takes many times as long.
void write_reduction(std::span<std::byte> target, std::uint64_t seed, int rank);

// The sum of the first `ranks` ranks' contributions, as a multiple of reduction_element.
inline double factor_sum(int ranks) {
  return 0.5 * ranks * (ranks + 1.0);
}

}  // namespace hockney
