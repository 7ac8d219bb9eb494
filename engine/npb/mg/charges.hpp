// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace hockney::npb {

// A point of the grid, x + n (y + n z), and the value of v there.
struct MgCharge {
  std::size_t point;
  double value;
};

// The right-hand side of MG (Bailey et al. 1994, section 3.4.4): v is 1 at the ten points of n x n x n with
// the largest random numbers, -1 at the ten with the smallest, and 0 elsewhere.
std::vector<MgCharge> mg_charges(std::size_t n);

}  // namespace hockney::npb
