// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "measure/buffer.hpp"
#include "measure/workload.hpp"

// The steps of fill() and verify() in most patterns.
namespace hockney {

// Where each pair of ranks has a separate payload: the source of what rank `from` sends to rank `to`.
inline std::uint64_t channel(const Comm& comm, int from, int to) {
  return static_cast<std::uint64_t>(from) * static_cast<std::uint64_t>(comm.size) +
         static_cast<std::uint64_t>(to);
}

// The payload of `source`, to be sent from `to`.
void write_bytes(std::span<std::byte> to, const Payload& payload, std::uint64_t source);

// Writes a pattern that write_bytes never produces, so that a missing message is detected.
void spoil(std::span<std::byte> place, const Payload& payload);

// Compares the written part of `actual` with the payload of `source`; `what` names it in the message.
Check check_bytes(std::span<const std::byte> actual, const Payload& payload, std::uint64_t source,
                  const char* what);

// The same for doubles: element i must be scale * reduction_element(seed, first + i).
Check check_reduced(std::span<const std::byte> actual, const Payload& payload, std::size_t first,
                    double scale, const char* what);

// Writes this rank's contribution to a reduction, rank + 1 times reduction_element. Every element is written,
// because the time of a sum depends on its operands: adding subnormal numbers takes many times as long.
void write_reduction(std::span<std::byte> to, std::uint64_t seed, int rank);

// The sum of the first `ranks` ranks' contributions, as a multiple of reduction_element.
inline double sum_of_factors(int ranks) {
  return 0.5 * ranks * (ranks + 1.0);
}

}  // namespace hockney
