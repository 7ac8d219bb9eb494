// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/expect.hpp"

namespace hockney {
namespace {

constexpr std::size_t fewest_repetitions = 6;
constexpr std::size_t fewest_blocks = 7;
constexpr double normal_quantile = 1.96;

struct Correlation {
  double tau;  // variance of the count below the median, relative to that of independent times
  double z;    // quantile for this variance
};

Correlation correlation(std::span<const int> sign) {
  const std::size_t n = sign.size();
  Correlation estimate{1.0, normal_quantile};
  for (std::size_t length = 2; n / length >= fewest_blocks; length *= 2) {
    const std::size_t blocks = n / length;
    std::int64_t squares = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < length; ++i) sum += sign[b * length + i];
      squares += sum * sum;
    }
    const double variance_ratio = static_cast<double>(squares) / static_cast<double>((blocks - 1) * length);
    const double ratio =
        variance_ratio *
        (1.0 + variance_ratio / static_cast<double>(length));  // corrected for blocks of finite length
    estimate = {1.0, normal_quantile};
    if (ratio > 1.0) {
      // Student's t for blocks - 1 degrees of freedom (Abramowitz and Stegun 26.7.5).
      const double degrees = static_cast<double>(blocks - 1);
      estimate = {ratio, normal_quantile + (2.3723 + (2.8225 + 2.5562 / degrees) / degrees) / degrees};
    }
    if (static_cast<double>(length * length * length) >=
        4.0 * static_cast<double>(n) * estimate.tau * estimate.tau)
      break;
  }
  return estimate;
}

double median_of_sorted(std::span<const double> sorted_values) {
  const std::size_t n = sorted_values.size();
  return n % 2 ? sorted_values[n / 2] : (sorted_values[n / 2 - 1] + sorted_values[n / 2]) / 2;
}

}  // namespace

std::optional<double> MedianInterval::relative() const {
  if (!interval || median <= 0) return std::nullopt;
  return (interval->high - interval->low) / 2 / median;
}

MedianInterval median_interval(std::span<const double> times) {
  HOCKNEY_EXPECT(!times.empty());
  std::vector<double> sorted(times.begin(), times.end());
  std::sort(sorted.begin(), sorted.end());
  const double middle = median_of_sorted(sorted);
  const std::size_t n = times.size();
  if (n < fewest_repetitions) return {middle, std::nullopt};
  std::vector<int> sign(n);
  for (std::size_t i = 0; i < n; ++i) sign[i] = (times[i] > middle) - (times[i] < middle);
  const auto [tau, z] = correlation(sign);
  const double count = static_cast<double>(n);
  const double rank = std::max(std::floor((count + 1) * 0.5 - z * 0.5 * std::sqrt(count * tau)), 1.0);
  const auto r = static_cast<std::size_t>(rank);
  return {middle, Interval{sorted[r - 1], sorted[n - r]}};
}

double median(std::span<const double> times) {
  HOCKNEY_EXPECT(!times.empty());
  std::vector<double> sorted(times.begin(), times.end());
  std::sort(sorted.begin(), sorted.end());
  return median_of_sorted(sorted);
}

}  // namespace hockney
