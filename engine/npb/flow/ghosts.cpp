// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/ghosts.hpp"

#include <algorithm>

namespace hockney::npb::flow {
namespace {

// Calls copy(row of the field, values in the buffer, count) for each row of the box.
template <class AnyField, class Box, class Values, class Copy>
void each_row(AnyField& field, const Box& box, Values* values, const Copy& copy) {
  const int count = box.end[0] - box.begin[0];
  values += box.place;
  for (int k = box.begin[2]; k < box.end[2]; ++k)
    for (int j = box.begin[1]; j < box.end[1]; ++j)
      for (int m = 0; m < 5; ++m, values += count) copy(field.row(m, j, k) + box.begin[0], values, count);
}

}  // namespace

void Ghosts::Boxes::add(const Subgrid& subgrid, int rank, std::size_t direction, int begin, int end) {
  if (begin >= end) return;
  Box box{rank, {0, 0, 0}, subgrid.size, buffer.size(), 5};
  box.begin[direction] = begin;
  box.end[direction] = end;
  for (std::size_t d = 0; d < 3; ++d) box.values *= static_cast<std::size_t>(box.end[d] - box.begin[d]);
  buffer.resize(buffer.size() + box.values);
  boxes.push_back(box);
}

Ghosts::Ghosts(const Subgrid& subgrid) {
  for (std::size_t d = 0; d < 3; ++d) {
    const int size = subgrid.size[d];
    for (int part = 0; part < subgrid.parts[d]; ++part) {
      if (part == subgrid.place[d]) continue;
      Triple at = subgrid.place;
      at[d] = part;
      const Subgrid other(subgrid.points, subgrid.parts, at);
      // The other's points in this rank's indices.
      const int begin = other.origin[d] - subgrid.origin[d];
      const int end = begin + other.size[d];
      const int rank = subgrid.rank_of(at);
      if (part < subgrid.place[d]) {
        sent_.add(subgrid, rank, d, 0, std::min(size, end + ghost_layers));
        received_.add(subgrid, rank, d, std::max(begin, -ghost_layers), end);
      } else {
        sent_.add(subgrid, rank, d, std::max(0, begin - ghost_layers), size);
        received_.add(subgrid, rank, d, begin, std::min(end, size + ghost_layers));
      }
    }
  }
  for (const Box& box : sent_.boxes)
    outgoing_.push_back({box.rank, sent_.buffer.data() + box.place, box.values * sizeof(double)});
  for (const Box& box : received_.boxes)
    incoming_.push_back({box.rank, received_.buffer.data() + box.place, box.values * sizeof(double)});
}

void Ghosts::pack(const Field& field) {
  for (const Box& box : sent_.boxes)
    each_row(field, box, sent_.buffer.data(),
             [](const double* row, double* values, int count) { std::copy_n(row, count, values); });
}

void Ghosts::exchange(Account& account) {
  if (!outgoing_.empty()) account.exchange(outgoing_, incoming_);
}

void Ghosts::unpack(Field& field) {
  for (const Box& box : received_.boxes)
    each_row(field, box, received_.buffer.data(),
             [](double* row, const double* values, int count) { std::copy_n(values, count, row); });
}

}  // namespace hockney::npb::flow
