// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/field.hpp"

#include <algorithm>

namespace hockney::npb::flow {

Field::Field(Arena& arena, const Subgrid& subgrid)
    : component(row_length(subgrid.size[0])),
      step{1, 5 * component, 5 * component * (subgrid.size[1] + 2 * ghost_layers)},
      arena_(arena) {
  const auto values = static_cast<std::size_t>(step[2] * (subgrid.size[2] + 2 * ghost_layers));
  memory_ = reinterpret_cast<double*>(arena.take(values * sizeof(double)));
  std::fill_n(memory_, values, 0.0);
  origin_ = memory_ + ghost_layers * (step[1] + step[2]) + row_origin;
}

}  // namespace hockney::npb::flow
