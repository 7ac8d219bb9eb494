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

// Of the random numbers that generated instances consist of.
inline constexpr std::uint32_t instance_stream = 100;

inline void check_generated(std::int64_t size, std::int64_t least, std::int64_t most, const char* of_what) {
  if (size >= least && size <= most) return;
  throw std::invalid_argument("a generated instance needs " + std::to_string(least) + " to " +
                              std::to_string(most) + " " + of_what + ", not " + std::to_string(size));
}

// "uniform-1000-seed1"
inline std::string generated_name(std::string name, std::initializer_list<int> sizes, std::uint64_t seed) {
  for (const int size : sizes) name.append("-").append(std::to_string(size));
  return name.append("-seed").append(std::to_string(seed));
}

// Fisher and Yates, in Durstenfeld's order (CACM 7, 1964, algorithm 235).
inline std::vector<std::int32_t> random_permutation(std::int32_t size, Random& random) {
  std::vector<std::int32_t> permutation(static_cast<std::size_t>(size));
  std::iota(permutation.begin(), permutation.end(), 0);
  for (std::uint32_t rest = static_cast<std::uint32_t>(size); rest > 1; --rest)
    std::swap(permutation[rest - 1], permutation[random.below(rest)]);
  return permutation;
}

}  // namespace hockney::annealing
