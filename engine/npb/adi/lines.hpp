// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/adi/lanes.hpp"
#include "npb/flow/field.hpp"

// The lines of a subgrid in one direction, and their values in the order in which lines are solved: by point,
// then by component, then by lane.
namespace hockney::npb::adi {

using flow::Field;
using flow::Index;
using flow::Subgrid;
using flow::Triple;

inline constexpr std::size_t components = 5;

// Up to 8 lines, the one in lane n with its own points at `corner[n]` and `corner[n]` + step, ... Lanes that
// are left over repeat the last line.
struct Batch {
  std::size_t count;
  Index corner[lines_together];  // from the first own point of the field
  bool contiguous;               // corner[n] = corner[0] + n, and may be read for all n
};

class Lines {
 public:
  Lines(const Subgrid& subgrid, std::size_t direction);

  std::size_t rows() const { return rows_; }  // own points of a line
  std::size_t batches() const { return batches_; }
  std::size_t direction() const { return direction_; }
  // Lines of the batches begin to end - 1.
  std::size_t lines(std::size_t begin, std::size_t end) const;
  std::size_t count(std::size_t batch) const;
  Batch batch(const Field& field, std::size_t number) const;

 private:
  std::size_t direction_, rows_;
  // Along y and z, the lines of a batch follow each other by x. Along x, they do so by y, and by z after the
  // end of a plane.
  std::size_t across_, others_, per_row_, batches_;
};

// Components in the order `order` of the points begin to end - 1 of a batch, to `to`, where `pitch` doubles
// are between points.
void gather(const Field& field, const Lines& lines, const Batch& batch,
            const std::size_t (&order)[components], int begin, int end, double* to, std::size_t pitch);
// The reverse for all own points, without the lanes that are left over: from `from`, or, with `add`, added.
void scatter(Field& field, const Lines& lines, const Batch& batch, const std::size_t (&order)[components],
             const double* from, std::size_t pitch, bool add);

}  // namespace hockney::npb::adi
