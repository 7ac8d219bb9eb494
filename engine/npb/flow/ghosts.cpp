// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/ghosts.hpp"

#include <algorithm>
#include <tuple>

namespace hockney::npb::flow {
namespace {

// Calls copy(row of the field, values in the buffer, count) for each row of the box.
template <class Box, class Copy>
void for_each_row(const Box& box, double* values, const Copy& copy) {
  const int count = box.end[0] - box.begin[0];
  values += box.place;
  for (int k = box.begin[2]; k < box.end[2]; ++k)
    for (int j = box.begin[1]; j < box.end[1]; ++j)
      for (int m = 0; m < 5; ++m, values += count)
        copy(box.field->row(m, j, k) + box.begin[0], values, count);
}

}  // namespace

void Ghosts::Boxes::add(const Box& box, const Block& block, std::size_t direction, int begin, int end) {
  if (begin >= end) return;
  Box& box_copy = boxes.emplace_back(box);
  box_copy.field = block.field;
  box_copy.begin = {0, 0, 0};
  box_copy.end = block.subgrid->size;
  box_copy.begin[direction] = begin;
  box_copy.end[direction] = end;
  box_copy.values = 5;
  for (std::size_t d = 0; d < 3; ++d)
    box_copy.values *= static_cast<std::size_t>(box_copy.end[d] - box_copy.begin[d]);
}

void Ghosts::Boxes::order() {
  std::ranges::sort(boxes, {}, [](const Box& box) { return std::tie(box.rank, box.transfer); });
  std::size_t place = 0;
  for (Box& box : boxes) {
    box.place = place;
    place += box.values;
  }
  buffer.resize(place);
}

template <class Use>
void Ghosts::Boxes::for_each_message(const Use& use) {
  for (auto box = boxes.begin(); box != boxes.end();) {
    const Box& first = *box;
    std::size_t values = 0;
    for (; box != boxes.end() && box->rank == first.rank; ++box) values += box->values;
    use(first.rank, buffer.data() + first.place, values);
  }
}

Ghosts::Ghosts(const Division& division, const std::vector<Block>& blocks) {
  for (const Block& block : blocks)
    for (std::size_t d = 0; d < 3; ++d) {
      const Subgrid& local = *block.subgrid;
      const int size = local.size[d];
      for (int part = 0; part < local.parts[d]; ++part) {
        if (part == local.place[d]) continue;
        Triple at = local.place;
        at[d] = part;
        const Subgrid other(local.points, local.parts, at);
        // The other block's points in this block's indices.
        const int begin = other.origin[d] - local.origin[d];
        const int end = begin + other.size[d];
        const int rank = division.rank_of(at);
        const Box to{rank, {at, local.place}, nullptr, {}, {}, 0},
            from{rank, {local.place, at}, nullptr, {}, {}, 0};
        if (part < local.place[d]) {
          send_boxes_.add(to, block, d, 0, std::min(size, end + ghost_layers));
          receive_boxes_.add(from, block, d, std::max(begin, -ghost_layers), end);
        } else {
          send_boxes_.add(to, block, d, std::max(0, begin - ghost_layers), size);
          receive_boxes_.add(from, block, d, begin, std::min(end, size + ghost_layers));
        }
      }
    }
  send_boxes_.order();
  receive_boxes_.order();
  send_boxes_.for_each_message([this](int rank, const double* data, std::size_t values) {
    outgoing_.push_back({rank, data, values * sizeof(double)});
  });
  receive_boxes_.for_each_message([this](int rank, double* data, std::size_t values) {
    incoming_.push_back({rank, data, values * sizeof(double)});
  });
}

void Ghosts::pack() {
  for (const Box& box : send_boxes_.boxes)
    for_each_row(box, send_boxes_.buffer.data(),
                 [](const double* row, double* values, int count) { std::copy_n(row, count, values); });
}

void Ghosts::exchange(Account& account) {
  if (!outgoing_.empty()) account.exchange(outgoing_, incoming_);
}

void Ghosts::unpack() {
  for (const Box& box : receive_boxes_.boxes)
    for_each_row(box, receive_boxes_.buffer.data(),
                 [](double* row, const double* values, int count) { std::copy_n(values, count, row); });
}

}  // namespace hockney::npb::flow
