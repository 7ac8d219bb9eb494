// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace hockney::npb::flow {

// One number for each direction: x, y, z.
using Triple = std::array<int, 3>;
// One number for each component: density, three momenta, energy.
using Five = std::array<double, 5>;
using Index = std::ptrdiff_t;

inline constexpr int ghost_layers = 2;

// One block of a grid of N^3 points, whose interior, (N - 2)^3 points, is divided into px x py x pz blocks as
// even as possible. Its own points have the local indices 0 to size - 1 in each direction, and
// local index i is index origin + i of the grid. Around them are ghost points: -2, -1, size and size + 1.
// These are points of other blocks, or of the grid's boundary, whose values never change (one layer), or
// outside of the grid (always 0, and without influence).
struct Subgrid {
  // Block `place` of `parts`; there are at most N - 2 blocks in each direction.
  Subgrid(int points, const Triple& parts, const Triple& place);

  int points;  // N
  Triple parts, place;
  Triple origin, size;

  // Distance between grid points; the grid is the unit cube.
  double spacing() const { return 1.0 / (points - 1); }
  // Number of interior points of the whole grid.
  double interior() const;
  // This block's share of the interior points.
  double share() const;
  // Whether local index i, which may be a ghost's, is a point of the grid.
  bool has(int direction, int i) const {
    const auto d = static_cast<std::size_t>(direction);
    return origin[d] + i >= 0 && origin[d] + i < points;
  }
};

}  // namespace hockney::npb::flow
