// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace hockney::annealing {

// Rounds energies to multiples k q of a power of two, so that sums over W walkers are exact in doubles, and
// do not depend on the order of the additions or on how walkers are divided among ranks.
//
// Sums of squares are exact if W k^2 <= 2^53, hence |k| <= K = floor(sqrt(2^53 / W)), and q is the smallest
// power of two with K q >= `bound`, the largest energy. For 64 walkers K is 2^23.5: relative to the largest
// energy, energies have 23 bits. Larger energies count as K q, which keeps the sums exact, but not accurate.
class Quantum final {
 public:
  Quantum(int walkers, double bound) : max_multiple_(std::floor(std::sqrt(0x1p53 / walkers))) {
    int exponent = 0;
    const double mantissa = std::frexp(bound / max_multiple_, &exponent);
    if (mantissa == 0.5) --exponent;  // bound / max_multiple is itself a power of two
    quantum_ = bound > 0 ? std::ldexp(1.0, exponent) : 1;
  }

  double rounded(double energy) const {
    return quantum_ * std::fmin(max_multiple_, std::fmax(-max_multiple_, std::nearbyint(energy / quantum_)));
  }
  double value() const { return quantum_; }
  double largest() const { return max_multiple_ * quantum_; }

 private:
  double max_multiple_;
  double quantum_ = 1;
};

// The bound for a problem that states none. Initial energies are random, and may be small if positive and
// negative terms cancel, as in a spin glass.
inline constexpr double bound_over_initial = 64;

}  // namespace hockney::annealing
