// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "hockney/annealing/distances.hpp"

#include <limits>

namespace hockney::annealing {
namespace {

// TSPLIB 95, section 2.4, with its constants. Degrees are truncated, although the text describes rounding,
// because all published optima assume it.
double radians(double degrees_and_minutes) {
  constexpr double pi = 3.141592;
  const double degrees = std::trunc(degrees_and_minutes);
  return pi * (degrees + 5.0 * (degrees_and_minutes - degrees) / 3.0) / 180.0;
}

std::int32_t geographical(const Distances::Point& from, const Distances::Point& to) {
  constexpr double radius = 6378.388;
  const double latitude = radians(from.x);
  const double other_latitude = radians(to.x);
  const double q1 = std::cos(radians(from.y) - radians(to.y));
  const double q2 = std::cos(latitude - other_latitude);
  const double q3 = std::cos(latitude + other_latitude);
  const double cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3);
  // Due to rounding, the value may exceed 1 for two cities at one place.
  return static_cast<std::int32_t>(radius * std::acos(std::clamp(cosine, -1.0, 1.0)) + 1.0);
}

// Whether squares of differences and their sums are exact.
bool exact(const Distances::Point& point) {
  constexpr double largest = 0x1p25;
  return point.x == std::trunc(point.x) && point.y == std::trunc(point.y) && std::abs(point.x) <= largest &&
         std::abs(point.y) <= largest;
}

}  // namespace

Distances::Distances(Metric metric, std::vector<Point> points)
    : size_{static_cast<int>(points.size())}, metric_{metric}, points_{std::move(points)} {
  // A program with fused multiply-add would round some distances between inexact points differently from the
  // library, which computes energies.
  const bool large = size_ > most_in_matrix;
  if (metric != Metric::geographical && (large || std::all_of(points_.begin(), points_.end(), exact))) return;
  std::vector<std::int32_t> matrix;
  matrix.reserve(points_.size() * points_.size());
  for (std::int32_t from = 0; from < size_; ++from)
    for (std::int32_t to = 0; to < size_; ++to)
      matrix.push_back(metric == Metric::geographical ? geographical(points_[static_cast<std::size_t>(from)],
                                                                     points_[static_cast<std::size_t>(to)])
                                                      : (*this)(from, to));
  matrix_ = std::move(matrix);
}

bool Distances::representable(Metric metric, const std::vector<Point>& points) {
  if (metric == Metric::geographical || points.empty()) return true;
  const auto [left, right] = std::minmax_element(points.begin(), points.end(),
                                                 [](const Point& a, const Point& b) { return a.x < b.x; });
  const auto [low, high] = std::minmax_element(points.begin(), points.end(),
                                               [](const Point& a, const Point& b) { return a.y < b.y; });
  // No metric exceeds the sum of both sides by more than the rounding error.
  const double max_distance = (right->x - left->x) + (high->y - low->y) + 1;
  return max_distance <= std::numeric_limits<std::int32_t>::max();
}

std::int32_t Distances::distance_by_metric(double dx, double dy) const {
  switch (metric_) {
    case Metric::ceiling: return static_cast<std::int32_t>(std::ceil(std::sqrt(dx * dx + dy * dy)));
    case Metric::pseudo_euclidean: {
      // Rounded to the nearest number, plus 1 if that is smaller.
      const double length = std::sqrt((dx * dx + dy * dy) / 10.0);
      const std::int32_t rounded = nearest(length);
      return rounded < length ? rounded + 1 : rounded;
    }
    case Metric::manhattan: return nearest(std::abs(dx) + std::abs(dy));
    case Metric::maximum: return std::max(nearest(std::abs(dx)), nearest(std::abs(dy)));
    case Metric::euclidean:
    case Metric::geographical: break;
  }
  return nearest(std::sqrt(dx * dx + dy * dy));
}

}  // namespace hockney::annealing
