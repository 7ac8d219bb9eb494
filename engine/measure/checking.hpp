// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "measure/buffer.hpp"
#include "measure/workload.hpp"

// The steps that fill() and verify() of most patterns consist of.
namespace hockney {

// Nothing that write_payload makes: a receive that never happened leaves this behind.
void spoil(std::span<std::byte> place);

// `actual` against the payload of `source`; `what` names it in the message.
Check check_bytes(std::span<const std::byte> actual, std::uint64_t seed, std::uint64_t source,
                  const char* what);

// `actual` holds doubles, element i being scale * reduction_element(seed, first + i).
Check check_reduced(std::span<const std::byte> actual, std::uint64_t seed, std::size_t first, double scale,
                    const char* what);

// This rank's contribution to a reduction: rank + 1 times reduction_element.
void write_reduction(std::span<std::byte> to, std::uint64_t seed, int rank);

}  // namespace hockney
