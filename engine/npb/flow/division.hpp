// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "npb/flow/subgrid.hpp"

namespace hockney::npb::flow {

// How the interior of a grid is divided into cells, and which rank has which cells. Either each rank has one
// cell, with x fastest; or, in a multi-partition, q^2 ranks have q of the q x q x q cells each: one in each
// plane of cells, whatever the plane's direction, so that all ranks work in each step of a sweep along lines.
struct Division {
  int points;  // N, per side
  Triple parts;
  bool multiple = false;

  int rank_of(const Triple& cell) const;
  // This rank's cells; ordered by z in a multi-partition.
  std::vector<Subgrid> cells_of(int rank) const;
};

}  // namespace hockney::npb::flow
