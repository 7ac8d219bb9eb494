// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

namespace hockney {

struct Interval {
  double low;
  double high;
};

struct MedianInterval {
  double median;
  std::optional<Interval> interval;  // 95%; empty if there are too few times

  // Half-width of the interval divided by the median; empty if there is no interval or the median is 0.
  std::optional<double> relative() const;
};

// The median of `times`, in measured order, with its rank-based 95% interval corrected for autocorrelation.
// hockney/models/statistics/interval.py defines the rule and its sources; both give the same bits. `times`
// must not be empty.
MedianInterval median_interval(std::span<const double> times);

// `times` must not be empty.
double median(std::span<const double> times);

}  // namespace hockney
