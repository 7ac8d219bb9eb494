// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <cmath>

#include "base/parts.hpp"
#include "npb/frame/instruction_sets.hpp"
#include "npb/frame/kernel.hpp"
#include "npb/frame/random.hpp"

namespace hockney::npb {
namespace {

constexpr const char* ep_phases[] = {"pairs", "sums"};
constexpr std::size_t ep_annuli = 10;
constexpr std::size_t ep_batch = 512;  // pairs that are processed together

struct EpClass {
  const char* name;
  std::uint64_t pairs;
  double sum_x, sum_y;
};
// From Bailey et al. 1994 and the NPB 3.4 sources (values). The sums of `tiny` are from a sequential program
// in Python.
constexpr EpClass ep_classes[] = {
    {"S", 1ull << 24, -3.247834652034740e+3, -6.958407078382297e+3},
    {"W", 1ull << 25, -2.863319731645753e+3, -6.320053679109499e+3},
    {"A", 1ull << 28, -4.295875165629892e+3, -1.580732573678431e+4},
    {"B", 1ull << 30, 4.033815542441498e+4, -2.660669192809235e+4},
    {"C", 1ull << 32, 4.764367927995374e+4, -8.084072988043731e+4},
    {"tiny", 1001, -12.33628469242396, 1.1559484793989085},
};

struct EpSums {
  double x = 0;
  double y = 0;
  std::array<std::int64_t, ep_annuli> counts{};
};

// Returns 2 r - 1, from a number of the generator shifted to the 46 highest bits. Exact.
inline double ep_centred(std::uint64_t shifted) {
  return std::bit_cast<double>(shifted >> 12 | 0x4000000000000000) - 3;
}

// Returns -2 log t, for 0 < t <= 1. t is m 2^-e with m between the square roots of 1/2 and 2; the logarithm
// of m is the series of 2 artanh((m - 1) / (m + 1)), whose next term would be 2e-17 of the first one.
inline double ep_minus_two_log(double t) {
  constexpr double high = 0x1.62e42fefa3800p-1, low = 0x1.ef35793c76730p-45;  // of log 2
  constexpr std::uint64_t root_two = 0x3ff6a09e667f3bcc;
  constexpr std::uint64_t two_to_52 = 0x4330000000000000;
  const auto bits = std::bit_cast<std::uint64_t>(t);
  const std::uint64_t exponent = (root_two - bits) >> 52;
  const double e = std::bit_cast<double>(exponent | two_to_52) - 0x1p52;
  const double m = std::bit_cast<double>(bits + (exponent << 52));
  const double s = (m - 1) / (m + 1);
  const double q = s * s;
  const double fifth = ((((1.0 / 19 * q + 1.0 / 17) * q + 1.0 / 15) * q + 1.0 / 13) * q + 1.0 / 11);
  const double series = (((fifth * q + 1.0 / 9) * q + 1.0 / 7) * q + 1.0 / 5) * q + 1.0 / 3;
  return 2 * (e * high + (e * low - (2 * s + 2 * s * q * series)));
}

// Adds the Gaussian deviates, by the polar method, of the pairs `begin` to `end`. Pairs that the method
// rejects get the factor 0.
HOCKNEY_VECTORISED void ep_add_pairs(std::uint64_t begin, std::uint64_t end, EpSums& sums) {
  constexpr std::uint64_t seed = 271828183;
  constexpr int shift = 64 - 46;
  constexpr std::uint64_t square = multiplier * multiplier & modulus_mask;
  constexpr std::uint64_t stride = multiplier_power(2 * ep_batch);
  // First number of each pair, in the 46 highest bits, where products need no reduction.
  std::array<std::uint64_t, ep_batch> states;
  states[0] = (seed * multiplier_power(2 * begin + 1)) << shift;
  for (std::size_t k = 1; k < ep_batch; ++k) states[k] = states[k - 1] * square;
  std::array<double, ep_batch> radii;
  for (std::uint64_t first_pair = begin; first_pair < end; first_pair += ep_batch) {
    const std::size_t count = std::min<std::uint64_t>(ep_batch, end - first_pair);
    double sum_x = 0, sum_y = 0;
    std::int64_t accepted = 0, above_1 = 0, above_2 = 0, above_3 = 0, above_4 = 0;
#pragma omp simd reduction(+ : sum_x, sum_y, accepted, above_1, above_2, above_3, above_4)
    for (std::size_t k = 0; k < count; ++k) {
      const double x = ep_centred(states[k]);
      const double y = ep_centred(states[k] * multiplier);
      states[k] *= stride;
      const double t = x * x + y * y;
      const double inside = t <= 1 ? t : 1;  // the logarithm of 1 is 0
      const double factor = std::sqrt(ep_minus_two_log(inside) / inside);
      const double deviate_x = x * factor;
      const double deviate_y = y * factor;
      sum_x += deviate_x;
      sum_y += deviate_y;
      const double radius = std::max(std::abs(deviate_x), std::abs(deviate_y));
      radii[k] = radius;
      accepted += t <= 1;
      above_1 += radius >= 1;
      above_2 += radius >= 2;
      above_3 += radius >= 3;
      above_4 += radius >= 4;
    }
    sums.x += sum_x;
    sums.y += sum_y;
    sums.counts[0] += accepted - above_1;
    sums.counts[1] += above_1 - above_2;
    sums.counts[2] += above_2 - above_3;
    sums.counts[3] += above_3 - above_4;
    for (std::size_t k = 0; above_4 && k < count; ++k)
      if (radii[k] >= 4) ++sums.counts[static_cast<std::size_t>(radii[k])];
  }
}

// Embarrassingly parallel: pairs of Gaussian deviates are generated, summed and counted by annulus. The pairs
// are divided into blocks, one for each rank, and only the sums are communicated.
class Ep final : public Kernel {
 public:
  Ep(const Place& place, const Values& values)
      : Kernel(place, values, ep_phases), class_(class_of<EpClass>(ep_classes, values)) {}

 private:
  void reset() override { sums_ = {}; }

  void execute() override {
    // Processes a tenth of the pairs at a time, after which a barrier may be placed.
    constexpr int iterations = 10;
    const Range local =
        part_of(class_.pairs, static_cast<std::size_t>(comm_.size), static_cast<std::size_t>(comm_.rank));
    for (int i = 0; i < iterations; ++i) {
      const Range part = part_of(local.size(), iterations, static_cast<std::size_t>(i));
      compute(2.0 * static_cast<double>(part.size()),
              [&] { ep_add_pairs(local.begin + part.begin, local.begin + part.end, sums_); });
      end_iteration(i, iterations);
    }
    account_.phase(1);
    double sums[] = {sums_.x, sums_.y};
    account_.sum(sums, 2);
    account_.sum(sums_.counts.data(), ep_annuli);
    sums_.x = sums[0];
    sums_.y = sums[1];
  }

  std::vector<Answer> answers() override {
    return {{"sum of x", sums_.x, class_.sum_x, 1e-8}, {"sum of y", sums_.y, class_.sum_y, 1e-8}};
  }
  double official_operations() const override { return 2.0 * static_cast<double>(class_.pairs); }
  void flip() override { flip_bit(sums_.x); }
  std::string decomposition() const override { return std::to_string(comm_.size) + " blocks of pairs"; }

  const EpClass class_;
  EpSums sums_;
};

constexpr auto ep_parameters =
    kernel_parameters("S|W|A|B|C|tiny", "2^24, 2^25, 2^28, 2^30, 2^32 or 1001 pairs");

}  // namespace

extern constinit const WorkloadInfo ep = kernel_info(
    "ep", "EP of the NAS Parallel Benchmarks: Gaussian deviates by the polar method, summed and counted",
    ep_parameters, make<Ep>);

}  // namespace hockney::npb
