// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/charges.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "npb/frame/instruction_sets.hpp"
#include "npb/frame/random.hpp"

namespace hockney::npb {
namespace {

constexpr std::uint64_t mg_seed = 314159265;
constexpr std::size_t mg_charges_of_a_sign = 10;
constexpr std::size_t mg_lanes = 16;

struct MgNumber {
  std::uint64_t state;
  std::size_t point;
};

// The largest numbers so far, in ascending order.
class MgLargest {
 public:
  std::uint64_t min_time() const { return numbers_.front().state; }
  void add(const MgNumber& number) {
    if (number.state <= min_time()) return;
    numbers_.front() = number;
    std::sort(numbers_.begin(), numbers_.end(),
              [](const MgNumber& a, const MgNumber& b) { return a.state < b.state; });
  }
  const std::array<MgNumber, mg_charges_of_a_sign>& numbers() const { return numbers_; }

 private:
  std::array<MgNumber, mg_charges_of_a_sign> numbers_{};
};

// The number of points is a multiple of the lanes. The smallest numbers are those with the largest
// complements.
HOCKNEY_VECTORISED void mg_find_extremes(std::size_t points, MgLargest& largest, MgLargest& smallest) {
  std::array<std::uint64_t, mg_lanes> states;
  for (std::size_t lane = 0; lane < mg_lanes; ++lane)
    states[lane] = mg_seed * multiplier_power(lane + 1) & modulus_mask;
  constexpr std::uint64_t stride = multiplier_power(mg_lanes);
  for (std::size_t point = 0; point < points; point += mg_lanes) {
    const std::uint64_t above = largest.min_time(), lower_keys = modulus_mask - smallest.min_time();
    std::uint64_t outer_index = 0;
    for (std::size_t lane = 0; lane < mg_lanes; ++lane)
      outer_index |= static_cast<std::uint64_t>(states[lane] > above) |
                     static_cast<std::uint64_t>(states[lane] < lower_keys);
    if (outer_index)
      for (std::size_t lane = 0; lane < mg_lanes; ++lane) {
        largest.add({states[lane], point + lane});
        smallest.add({modulus_mask - states[lane], point + lane});
      }
    for (std::uint64_t& state : states) state = state * stride & modulus_mask;
  }
}

}  // namespace

std::vector<MgCharge> mg_charges(std::size_t n) {
  MgLargest largest, smallest;
  mg_find_extremes(n * n * n, largest, smallest);
  std::vector<MgCharge> charges;
  for (const MgNumber& number : largest.numbers()) charges.push_back({number.point, 1.0});
  for (const MgNumber& number : smallest.numbers()) charges.push_back({number.point, -1.0});
  return charges;
}

}  // namespace hockney::npb
