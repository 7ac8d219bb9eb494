// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "comm/comm.hpp"
#include "npb/flow/field.hpp"

namespace hockney::npb::flow {

// The exact solution, a polynomial that is a sum of functions of x, y and z (Bailey et al. 1994, section
// 3.6), and the initial values, which are exact on the boundary of the unit cube and interpolated between its
// faces.
class Solution {
 public:
  explicit Solution(const Subgrid& subgrid);

  // Sets all points of the grid, including ghosts, so that no exchange is needed afterwards.
  void set_exact(Field& field) const;
  void set_initial(Field& field) const;

  // For each component, the sum of the squares of field - exact solution over this rank's own points.
  Five error_squares(const Field& field) const;

 private:
  Five at(int i, int j, int k) const;
  template <class Values>
  void set(Field& field, const Values& values) const;
  const Five& term(std::size_t direction, int i) const {
    const int place = i + ghost_layers;
    return terms_[direction][static_cast<std::size_t>(place)];
  }

  const Subgrid subgrid_;
  std::array<std::vector<Five>, 3> terms_;  // at each point in each direction, including ghosts
};

// For each component, the sum of the squares over this rank's own points.
Five squares(const Field& field, const Subgrid& subgrid);

// For each component, the root mean square over the grid's interior; `sums` are this rank's sums. Collective,
// not for timed parts, which use Account::sum() and the next function.
Five root_mean(const Comm& comm, Five sums, const Subgrid& subgrid);
// The same, from sums over all ranks.
Five root_mean(const Five& total, const Subgrid& subgrid);

}  // namespace hockney::npb::flow
