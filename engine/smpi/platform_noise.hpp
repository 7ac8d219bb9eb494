// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "smpi/platform_description.hpp"

namespace hockney::platform {

// Generates factors exp(s |N|), N from a normal distribution. The same seed gives the same factors
// everywhere, which the standard library's distributions do not guarantee.
class NoiseSource {
 public:
  explicit NoiseSource(const Noise& noise) : relative_(noise.relative), state_(noise.seed) {}

  explicit NoiseSource(std::uint64_t seed) : relative_(0), state_(seed) {}

  double factor() { return relative_ > 0 ? std::exp(relative_ * std::abs(normal())) : 1.0; }

  // A number in the open interval (0, 1).
  double uniform() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53; }

 private:
  // SplitMix64 (Steele, Lea and Flood 2014).
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // Box and Muller 1958.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  double relative_;
  std::uint64_t state_;
};

}  // namespace hockney::platform
