// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hockney::annealing {

/** How TSPLIB computes the whole-numbered distance between two points: G. Reinelt, TSPLIB 95, section 2. */
enum class Metric {
  euclidean,         ///< EUC_2D, rounded to the nearest number
  ceiling,           ///< CEIL_2D, Euclidean, rounded up
  pseudo_euclidean,  ///< ATT
  manhattan,         ///< MAN_2D
  maximum,           ///< MAX_2D
  geographical,      ///< GEO, latitude and longitude in degrees and minutes
};

/** Symmetric, whole-numbered distances between cities, at most 2^31 - 1: computed from coordinates when they
    are needed, since 16 kB of coordinates stay in the cache where 4 MB of distances do not, or from a matrix.
 */
class Distances final {
 public:
  struct Point {
    double x;
    double y;
  };

  static constexpr int most_in_matrix = 5000;  ///< 100 MB

  /** The largest distance must be representable: see `representable`. */
  Distances(Metric metric, std::vector<Point> points);

  /** `matrix` has size * size elements, row by row. */
  Distances(int size, std::vector<std::int32_t> matrix) : size_{size}, matrix_{std::move(matrix)} {}

  /** Whether all distances between such points are at most 2^31 - 1. */
  [[nodiscard]] static bool representable(Metric metric, const std::vector<Point>& points);

  [[nodiscard]] int size() const { return size_; }

  [[nodiscard]] std::int32_t operator()(std::int32_t from, std::int32_t to) const {
    if (!matrix_.empty())
      return matrix_[static_cast<std::size_t>(from) * static_cast<std::size_t>(size_) +
                     static_cast<std::size_t>(to)];
    const Point& a = points_[static_cast<std::size_t>(from)];
    const Point& b = points_[static_cast<std::size_t>(to)];
    const double dx = a.x - b.x;
    const double dy = a.y - b.y;
    if (metric_ == Metric::euclidean) return nearest(std::sqrt(dx * dx + dy * dy));
    return distance_by_metric(dx, dy);
  }

 private:
  static std::int32_t nearest(double x) { return static_cast<std::int32_t>(x + 0.5); }
  [[nodiscard]] std::int32_t distance_by_metric(double dx, double dy) const;

  int size_ = 0;
  Metric metric_ = Metric::euclidean;
  std::vector<Point> points_;
  std::vector<std::int32_t> matrix_;
};

}  // namespace hockney::annealing
