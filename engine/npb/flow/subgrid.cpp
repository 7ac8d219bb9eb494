// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/subgrid.hpp"

#include "base/expect.hpp"
#include "base/parts.hpp"

namespace hockney::npb::flow {

Subgrid::Subgrid(int points, const Triple& parts, const Triple& place)
    : points(points), parts(parts), place(place) {
  const int inside = points - 2;
  for (std::size_t d = 0; d < 3; ++d) {
    HOCKNEY_EXPECT(0 <= place[d] && place[d] < parts[d] && parts[d] <= inside);
    const Range local = part_of(static_cast<std::size_t>(inside), static_cast<std::size_t>(parts[d]),
                                static_cast<std::size_t>(place[d]));
    origin[d] = static_cast<int>(local.begin) + 1;
    size[d] = static_cast<int>(local.size());
  }
}

double Subgrid::interior() const {
  const double inside = points - 2;
  return inside * inside * inside;
}

double Subgrid::share() const {
  return static_cast<double>(size[0]) * size[1] * size[2] / interior();
}

}  // namespace hockney::npb::flow
