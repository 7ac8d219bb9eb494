// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>

#include "kernels/permutation.hpp"
#include "measure/workload.hpp"

namespace hockney::kernels {

// The input keys of a parallel sort, and the expected result. The sorted sequence of all keys is a formula,
// of which the input is a permutation, so every rank can compare its whole result by itself.
template <class T>
class Keys {
 public:
  Keys(std::uint64_t total, const std::string& distribution, std::uint64_t seed)
      : total_(total), distribution_(distribution), order_(total, seed) {}

  // Key number `position` of the input, with the ranks' keys one after the other.
  T input(std::uint64_t position) const {
    if (distribution_ == "sorted") return sorted(position);
    if (distribution_ == "reverse") return sorted(total_ - 1 - position);
    return sorted(order_(position));
  }

  // Key number `position` of the sorted sequence.
  T sorted(std::uint64_t position) const {
    if (distribution_ == "few") {
      const std::uint64_t number = position * distinct / total_;
      return scaled(static_cast<double>(number) / distinct);
    }
    const double share = static_cast<double>(position) / static_cast<double>(total_);
    if (distribution_ == "skewed") return scaled(std::pow(share, skew));
    if constexpr (std::is_integral_v<T>)
      if (total_ <= values) return static_cast<T>(position * (values / total_));
    return scaled(share);
  }

  // Compares keys with the sorted sequence, starting at `first`.
  Check check(std::span<const T> keys, std::uint64_t first) const {
    Check result;
    result.bytes = keys.size_bytes();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (first + i < total_ && keys[i] == sorted(first + i)) continue;
      result.errors = 1;
      result.first = "sorted keys: differ at key " + std::to_string(i) + " of this rank";
      break;
    }
    return result;
  }

 private:
  static constexpr std::uint64_t distinct = 16;
  static constexpr double skew = 8;
  static constexpr std::uint64_t values = std::uint64_t{1} << 32;

  // `share` is in [0, 1).
  static T scaled(double share) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(share * static_cast<double>(values));
    else
      return static_cast<T>(share);
  }

  std::uint64_t total_;
  std::string distribution_;
  Permutation order_;
};

inline constexpr Parameter distribution_parameter{
    "distribution",
    Kind::choice,
    "",
    "uniform",
    0,
    0,
    "uniform|sorted|reverse|few|skewed",
    "uniform: different keys in random order; sorted, reverse: the same in order; few: 16 different keys; "
    "skewed: most keys are close to 0"};

}  // namespace hockney::kernels
