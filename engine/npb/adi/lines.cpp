// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/adi/lines.hpp"

#include <algorithm>

namespace hockney::npb::adi {
namespace {

std::size_t extent(const Subgrid& subgrid, std::size_t direction) {
  return static_cast<std::size_t>(subgrid.size[direction]);
}

// Locations of a batch's values in memory.
struct MemoryPlace {
  Index component, step;
  std::size_t order[components];
  std::size_t pitch;
};

MemoryPlace place_for(const Field& field, const Lines& lines, const std::size_t (&order)[components],
                      std::size_t pitch) {
  MemoryPlace place{field.component, field.step[lines.direction()], {}, pitch};
  std::copy_n(order, components, place.order);
  return place;
}

// Lines along y and z: the values of a point of all lines are one vector. The next batch's vector is
// prefetched, because it is far from the other points of its lines.
template <std::size_t W>
HOCKNEY_INLINE void gather_contiguous(const double* from, const MemoryPlace& at, int points, double* to) {
  for (int i = 0; i < points; ++i, from += at.step, to += at.pitch)
    for (std::size_t m = 0; m < components; ++m) {
      const double* const point = from + static_cast<Index>(at.order[m]) * at.component;
      __builtin_prefetch(point + lines_together);
      for (std::size_t lane = 0; lane < lines_together; lane += W)
        store(to + m * lines_together + lane, load<W>(point + lane));
    }
}

template <std::size_t W, bool add>
HOCKNEY_INLINE void scatter_contiguous(double* to, const MemoryPlace& at, std::size_t rows,
                                       const double* from) {
  for (std::size_t i = 0; i < rows; ++i, from += at.pitch, to += at.step)
    for (std::size_t m = 0; m < components; ++m)
      for (std::size_t lane = 0; lane < lines_together; lane += W) {
        double* const place = to + static_cast<Index>(at.order[m]) * at.component + static_cast<Index>(lane);
        const auto values = load<W>(from + m * lines_together + lane);
        store(place, add ? load<W>(place) + values : values);
      }
}

// Lines along x: squares of W points of W lines are transposed. Up to W - 1 points beyond the end are read,
// which are within the field's memory.
template <std::size_t W>
HOCKNEY_INLINE void gather_transposed(const double* from, const Batch& batch, const MemoryPlace& at,
                                      int points, double* to) {
  for (std::size_t m = 0; m < components; ++m) {
    const double* const component = from + static_cast<Index>(at.order[m]) * at.component;
    for (std::size_t lane = 0; lane < lines_together; lane += W)
      for (int i = 0; i < points; i += static_cast<int>(W)) {
        Lanes<W> square[W];
        each<W>([&](auto n) __attribute__((always_inline)) {
          square[n] = load<W>(component + batch.corner[lane + n] + i);
        });
        transpose(square);
        double* const place = to + static_cast<std::size_t>(i) * at.pitch + m * lines_together + lane;
        if (i + static_cast<int>(W) <= points)
          each<W>([&](auto n) __attribute__((always_inline)) { store(place + n * at.pitch, square[n]); });
        else
          each<W>([&](auto n) __attribute__((always_inline)) {
            if (i + static_cast<int>(n) < points) store(place + n * at.pitch, square[n]);
          });
      }
  }
}

template <std::size_t W, bool add>
HOCKNEY_INLINE void scatter_transposed(double* to, const Batch& batch, const MemoryPlace& at,
                                       std::size_t rows, const double* from) {
  for (std::size_t m = 0; m < components; ++m) {
    double* const component = to + static_cast<Index>(at.order[m]) * at.component;
    for (std::size_t lane = 0; lane < lines_together; lane += W) {
      std::size_t i = 0;
      for (; i + W <= rows; i += W) {
        Lanes<W> square[W];
        each<W>([&](auto n) __attribute__((always_inline)) {
          square[n] = load<W>(from + (i + n) * at.pitch + m * lines_together + lane);
        });
        transpose(square);
        each<W>([&](auto n) __attribute__((always_inline)) {
          double* const place = component + batch.corner[lane + n] + static_cast<Index>(i);
          if (lane + n < batch.count) store(place, add ? load<W>(place) + square[n] : square[n]);
        });
      }
      for (; i < rows; ++i)
        for (std::size_t n = lane; n < std::min(lane + W, batch.count); ++n) {
          double& place = component[batch.corner[n] + static_cast<Index>(i)];
          const double value = from[i * at.pitch + m * lines_together + n];
          place = add ? place + value : value;
        }
    }
  }
}

// Scatters any lines, one number at a time.
void scatter_single(double* to, const Batch& batch, const MemoryPlace& at, std::size_t rows,
                    const double* from, bool add) {
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t m = 0; m < components; ++m)
      for (std::size_t n = 0; n < batch.count; ++n) {
        double& place = to[static_cast<Index>(at.order[m]) * at.component + batch.corner[n] +
                           static_cast<Index>(i) * at.step];
        const double value = from[i * at.pitch + m * lines_together + n];
        place = add ? place + value : value;
      }
}

}  // namespace

Lines::Lines(const Subgrid& subgrid, std::size_t direction)
    : direction_(direction), rows_(extent(subgrid, direction)) {
  if (direction == 0) {
    across_extent_ = extent(subgrid, 1);
    other_extent_ = extent(subgrid, 2);
    per_row_ = 0;
    batches_ = (across_extent_ * other_extent_ + lines_together - 1) / lines_together;
  } else {
    across_extent_ = extent(subgrid, 0);
    other_extent_ = extent(subgrid, 3 - direction);
    per_row_ = (across_extent_ + lines_together - 1) / lines_together;
    batches_ = per_row_ * other_extent_;
  }
}

std::size_t Lines::count(std::size_t batch) const {
  if (direction_ == 0)
    return std::min(lines_together, across_extent_ * other_extent_ - batch * lines_together);
  return std::min(lines_together, across_extent_ - batch % per_row_ * lines_together);
}

std::size_t Lines::lines(std::size_t begin, std::size_t end) const {
  std::size_t sum = 0;
  for (std::size_t batch = begin; batch < end; ++batch) sum += count(batch);
  return sum;
}

Batch Lines::batch(const Field& field, std::size_t number) const {
  Batch batch{count(number), {}, direction_ != 0};
  for (std::size_t n = 0; n < lines_together; ++n) {
    const std::size_t line = std::min(n, batch.count - 1);
    if (direction_ == 0) {
      const std::size_t at = number * lines_together + line;
      batch.corner[n] = static_cast<Index>(at % across_extent_) * field.step[1] +
                        static_cast<Index>(at / across_extent_) * field.step[2];
    } else {
      const std::size_t x = number % per_row_ * lines_together + line;
      batch.corner[n] =
          static_cast<Index>(x) + static_cast<Index>(number / per_row_) * field.step[3 - direction_];
    }
  }
  return batch;
}

void gather(const Field& field, const Lines& lines, const Batch& batch,
            const std::size_t (&order)[components], int begin, int end, double* to, std::size_t pitch) {
  const MemoryPlace place = place_for(field, lines, order, pitch);
  const double* const from = field.row(0, 0, 0) + begin * place.step;
  const int points = end - begin;
  vectorised([&]<std::size_t W>() __attribute__((always_inline)) {
    if (batch.contiguous)
      gather_contiguous<W>(from + batch.corner[0], place, points, to);
    else
      gather_transposed<W>(from, batch, place, points, to);
  });
}

void scatter(Field& field, const Lines& lines, const Batch& batch, const std::size_t (&order)[components],
             const double* from, std::size_t pitch, bool add) {
  const MemoryPlace place = place_for(field, lines, order, pitch);
  double* const to = field.row(0, 0, 0);
  if (batch.contiguous && batch.count < lines_together)
    return scatter_single(to, batch, place, lines.rows(), from, add);
  vectorised([&]<std::size_t W>() __attribute__((always_inline)) {
    double* const corner = to + batch.corner[0];
    if (batch.contiguous && add)
      scatter_contiguous<W, true>(corner, place, lines.rows(), from);
    else if (batch.contiguous)
      scatter_contiguous<W, false>(corner, place, lines.rows(), from);
    else if (add)
      scatter_transposed<W, true>(to, batch, place, lines.rows(), from);
    else
      scatter_transposed<W, false>(to, batch, place, lines.rows(), from);
  });
}

}  // namespace hockney::npb::adi
