// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/adi/decomposition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/invalid_case.hpp"

namespace hockney::npb::adi {
namespace {

using flow::Triple;

// Time to send one line's bytes and its ghost points at one end, in points.
constexpr double line_points = 8;

// Estimated time of a time step, in points that a sweep processes.
double estimated_time(const Triple& parts, int points, double startup_points) {
  double block = 1;
  for (const int count : parts) block *= std::ceil(static_cast<double>(points - 2) / count);
  double time = 4 * block;  // right-hand side and three sweeps
  for (const int count : parts) {
    if (count == 1) continue;
    const double rows = std::ceil(static_cast<double>(points - 2) / count);
    const double chunks = chunks_of(count, block, startup_points);
    time += (count - 1) / chunks * block + 2 * chunks * startup_points + block / rows * line_points;
  }
  return time;
}

// Lines along x are divided last: their values are contiguous.
std::optional<Triple> blocks_for(int ranks, int points, double startup_points) {
  std::optional<Triple> best;
  double min_time = std::numeric_limits<double>::infinity();
  for (int x = 1; x <= ranks; ++x)
    for (int y = 1; x * y <= ranks; ++y) {
      const Triple parts{x, y, ranks / (x * y)};
      if (parts[0] * parts[1] * parts[2] != ranks || *std::ranges::max_element(parts) > points - 2) continue;
      const double time = estimated_time(parts, points, startup_points);
      if (time >= min_time) continue;
      min_time = time;
      best = parts;
    }
  return best;
}

}  // namespace

double chunks_of(int parts, double points, double startup_points) {
  return std::max(1.0, std::round(std::sqrt((parts - 1) * points / (2 * startup_points))));
}

flow::Division divide(int ranks, int points, double startup_points) {
  const int side = points - 2;
  const int root = static_cast<int>(std::lround(std::sqrt(ranks)));
  if (root > 1 && root * root == ranks && root <= side) return {points, {root, root, root}, true};
  if (const auto parts = blocks_for(ranks, points, startup_points)) return {points, *parts};
  int fewer = std::min(ranks - 1, side * side * side);
  while (!blocks_for(fewer, points, startup_points)) --fewer;
  const std::string text = std::to_string(side);
  throw InvalidCase("the interior of the grid, " + text + " x " + text + " x " + text +
                    " points, cannot be divided into blocks for " + std::to_string(ranks) +
                    " ranks; below that, the largest number of ranks that works is " + std::to_string(fewer));
}

}  // namespace hockney::npb::adi
