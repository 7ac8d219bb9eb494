// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/detours.hpp"

#include <algorithm>
#include <cmath>

#include "base/statistics.hpp"

namespace hockney {
namespace {

// Quanta with one median: few enough for a core that changes its frequency, enough for a precise median.
constexpr std::size_t block = 512;
// A quantum is disturbed if it exceeds the median by more than this share and by more than this many
// standard deviations (estimated from the median absolute deviation, which disturbed quanta hardly change).
constexpr double min_excess = 0.02;
constexpr double max_deviations = 8;
constexpr double deviation_of_mad = 1.4826;
constexpr double clock_steps = 4;

double quantile(std::span<const double> unsorted, double probability) {
  std::vector<double> values(unsorted.begin(), unsorted.end());
  const auto at = static_cast<std::ptrdiff_t>(probability * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

struct Level {
  double median;
  double spread;  // standard deviation
};

Level level_of(std::span<const double> values) {
  const double middle = median(values);
  std::vector<double> deviations(values.begin(), values.end());
  for (double& value : deviations) value = std::abs(value - middle);
  return {middle, deviation_of_mad * median(deviations)};
}

// Calls visit(index, level) for every value, with the level of its block. A short block at the end joins the
// one before.
template <class Visit>
void visit_with_level(std::span<const double> values, std::vector<double>& medians, Visit visit) {
  const std::size_t blocks = std::max<std::size_t>(1, values.size() / block);
  for (std::size_t at = 0; at < blocks; ++at) {
    const std::size_t first = at * block, last = at + 1 == blocks ? values.size() : first + block;
    const Level level = level_of(values.subspan(first, last - first));
    medians.push_back(level.median);
    for (std::size_t index = first; index < last; ++index) visit(index, level);
  }
}

void add(Observation& observation, double start_s, double length_s) {
  observation.lost_s += length_s;
  observation.detours.push_back({start_s, length_s});
}

// Times with fewer digits make shorter records.
double rounded(double seconds, double step_s) {
  return std::round(seconds / step_s) * step_s;
}

void shorten(std::vector<Detour>& detours) {
  if (detours.size() > max_detours) {
    const auto cut = detours.begin() + static_cast<std::ptrdiff_t>(max_detours);
    std::nth_element(detours.begin(), cut, detours.end(),
                     [](const Detour& a, const Detour& b) { return a.length_s > b.length_s; });
    detours.erase(cut, detours.end());
    std::sort(detours.begin(), detours.end(),
              [](const Detour& a, const Detour& b) { return a.start_s < b.start_s; });
  }
  for (Detour& detour : detours) detour = {rounded(detour.start_s, 1e-7), rounded(detour.length_s, 1e-9)};
}

}  // namespace

Observation from_quanta(std::span<const double> seconds, double clock_step_s) {
  Observation observation;
  if (seconds.empty()) return observation;
  std::vector<double> medians;
  visit_with_level(seconds, medians, [&](std::size_t index, const Level& level) {
    const double excess_s = seconds[index] - level.median;
    const double min_s =
        std::max({min_excess * level.median, max_deviations * level.spread, clock_steps * clock_step_s});
    if (excess_s > min_s) add(observation, observation.observed_s, excess_s);
    observation.observed_s += seconds[index];
  });
  observation.undisturbed_s = median(medians);
  shorten(observation.detours);
  return observation;
}

Observation from_windows(std::span<const double> units, double window_s) {
  Observation observation;
  if (units.empty()) return observation;
  const double most = quantile(units, 0.99);
  std::vector<double> medians;
  visit_with_level(units, medians, [&](std::size_t index, Level level) {
    // On a core that is lost for most of the time, so are most windows.
    if (level.median < most / 2) level = {most, 0};
    const double missing = level.median - units[index];
    // A unit may end just before or after the window.
    const double min_units = std::max({min_excess * level.median, max_deviations * level.spread, 1.5});
    if (missing > min_units)
      add(observation, static_cast<double>(index) * window_s, missing / level.median * window_s);
  });
  observation.observed_s = static_cast<double>(units.size()) * window_s;
  observation.undisturbed_s = window_s / std::max({1.0, median(medians), most / 2});
  shorten(observation.detours);
  return observation;
}

}  // namespace hockney
