// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/frame/random.hpp"

#include <array>
#include <bit>

#include "npb/frame/instruction_sets.hpp"

namespace hockney::npb {

HOCKNEY_VECTORISED void fill_random(double* numbers, std::size_t count, std::uint64_t seed,
                                    std::uint64_t first) {
  constexpr std::size_t lanes = 64;
  constexpr std::uint64_t stride = multiplier_power(lanes);
  std::array<std::uint64_t, lanes> states;
  states[0] = seed * multiplier_power(first + 1) & modulus_mask;
  for (std::size_t k = 1; k < lanes; ++k) states[k] = states[k - 1] * multiplier & modulus_mask;
  // Constructs 1 + r from its bits, since not every processor converts many 64-bit numbers at once. Exact.
  const auto number = [](std::uint64_t state) {
    return std::bit_cast<double>(state << 6 | 0x3ff0000000000000) - 1;
  };
  std::size_t done = 0;
  for (; done + lanes <= count; done += lanes)
    for (std::size_t k = 0; k < lanes; ++k) {
      numbers[done + k] = number(states[k]);
      states[k] = states[k] * stride & modulus_mask;
    }
  for (std::size_t k = 0; done + k < count; ++k) numbers[done + k] = number(states[k]);
}

}  // namespace hockney::npb
