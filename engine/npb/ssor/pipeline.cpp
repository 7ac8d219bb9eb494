// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/ssor/pipeline.hpp"

#include <algorithm>
#include <cmath>

#include "base/parts.hpp"

namespace hockney::npb::ssor {
namespace {

// With f ranks before the last one in a pipeline, n planes in chunks of c take about (n / c + f) (c t + o),
// where t is the time of a plane and o the time that a message costs its rank. This is smallest at c = sqrt(n
// o / (f t)).
double optimal_chunk(const flow::Subgrid& subgrid, double startup_points) {
  const int before = subgrid.parts[0] + subgrid.parts[1] - 2;
  const double planes = subgrid.points - 2;
  if (before == 0) return planes;
  const double points = planes * planes / (subgrid.parts[0] * subgrid.parts[1]);
  return std::sqrt(planes * startup_points / (before * points));
}

int chunks_of(const flow::Subgrid& subgrid, int chunk, double startup_points) {
  const double planes = subgrid.points - 2;
  const double chosen = chunk > 0 ? chunk : optimal_chunk(subgrid, startup_points);
  return static_cast<int>(std::clamp(std::ceil(planes / chosen), 1.0, planes));
}

// Calls copy(values of the field, values of the message, count) for each row of a border.
template <class AnyField, class Values, class Copy>
void for_each_row(AnyField& v, const flow::Triple& begin, const flow::Triple& length, const Planes& planes,
                  Values* values, const Copy& copy) {
  for (int k = planes.begin; k < planes.end; ++k)
    for (int j = begin[1]; j < begin[1] + length[1]; ++j)
      for (int m = 0; m < 5; ++m, values += length[0]) copy(v.row(m, j, k) + begin[0], values, length[0]);
}

}  // namespace

Pipeline::Pipeline(const flow::Division& division, const flow::Subgrid& subgrid, int planes_per_chunk,
                   double startup_points)
    : size_(subgrid.size), chunks_(chunks_of(subgrid, planes_per_chunk, startup_points)) {
  int max_length = 0;
  for (int chunk = 0; chunk < chunks_; ++chunk)
    max_length = std::max(max_length, planes(chunk).end - planes(chunk).begin);
  for (std::size_t d = 0; d < 2; ++d) {
    Border& border = borders_[d];
    for (const int side : {0, 1}) {
      flow::Triple at = subgrid.place;
      at[d] += 2 * side - 1;
      border.ranks[static_cast<std::size_t>(side)] =
          at[d] < 0 || at[d] == subgrid.parts[d] ? -1 : division.rank_of(at);
    }
    border.length = {size_[0], size_[1], 1};
    border.length[d] = 1;
    border.received.resize(border.values({0, max_length}));
    border.sent.resize(border.values({0, max_length}));
  }
}

std::size_t Pipeline::Border::values(const Planes& planes) const {
  const int numbers = 5 * length[0] * length[1] * (planes.end - planes.begin);
  return static_cast<std::size_t>(numbers);
}

Planes Pipeline::planes(int chunk) const {
  const Range part = part_of(static_cast<std::size_t>(size_[2]), static_cast<std::size_t>(chunks_),
                             static_cast<std::size_t>(chunk));
  return {static_cast<int>(part.begin), static_cast<int>(part.end)};
}

void Pipeline::receive(Account& account, End end, const Planes& planes) {
  incoming_.clear();
  for (Border& border : borders_)
    if (border.rank(end) >= 0)
      incoming_.push_back({border.rank(end), border.received.data(), border.values(planes) * sizeof(double)});
  if (!incoming_.empty()) account.exchange({}, incoming_);
}

void Pipeline::send(Account& account, End end, const Planes& planes) {
  for (const Border& border : borders_)
    if (border.rank(end) >= 0)
      account.send(border.rank(end), border.sent.data(), border.values(planes) * sizeof(double));
}

void Pipeline::unpack(flow::Field& v, End end, const Planes& planes) const {
  for (std::size_t d = 0; d < 2; ++d) {
    if (borders_[d].rank(end) < 0) continue;
    flow::Triple begin{0, 0, 0};
    begin[d] = end == End::lower ? -1 : size_[d];
    for_each_row(v, begin, borders_[d].length, planes, borders_[d].received.data(),
                 [](double* row, const double* values, int count) { std::copy_n(values, count, row); });
  }
}

void Pipeline::pack(const flow::Field& v, End end, const Planes& planes) {
  for (std::size_t d = 0; d < 2; ++d) {
    if (borders_[d].rank(end) < 0) continue;
    flow::Triple begin{0, 0, 0};
    begin[d] = end == End::lower ? 0 : size_[d] - 1;
    for_each_row(v, begin, borders_[d].length, planes, borders_[d].sent.data(),
                 [](const double* row, double* values, int count) { std::copy_n(row, count, values); });
  }
}

}  // namespace hockney::npb::ssor
