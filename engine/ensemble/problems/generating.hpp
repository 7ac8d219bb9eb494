// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hockney/annealing/random.hpp"

namespace hockney::annealing {

// Stream of the random numbers used for generated instances.
inline constexpr std::uint32_t instance_stream = 100;

inline void check_generated(std::int64_t size, std::int64_t min_size, std::int64_t max_size,
                            const char* noun) {
  if (size >= min_size && size <= max_size) return;
  throw std::invalid_argument("a generated instance needs " + std::to_string(min_size) + " to " +
                              std::to_string(max_size) + " " + noun + ", not " + std::to_string(size));
}

// Returns a name such as "uniform-1000-seed1".
inline std::string generated_name(std::string name, std::initializer_list<int> sizes, std::uint64_t seed) {
  for (const int size : sizes) name.append("-").append(std::to_string(size));
  return name.append("-seed").append(std::to_string(seed));
}

// Fisher and Yates, in Durstenfeld's order (CACM 7, 1964, algorithm 235).
inline std::vector<std::int32_t> random_permutation(std::int32_t size, Random& random) {
  std::vector<std::int32_t> permutation(static_cast<std::size_t>(size));
  std::iota(permutation.begin(), permutation.end(), 0);
  for (std::uint32_t remaining = static_cast<std::uint32_t>(size); remaining > 1; --remaining)
    std::swap(permutation[remaining - 1], permutation[random.below(remaining)]);
  return permutation;
}

}  // namespace hockney::annealing
