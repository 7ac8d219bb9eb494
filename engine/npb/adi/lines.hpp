// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/adi/lanes.hpp"
#include "npb/flow/field.hpp"

// The lines of a subgrid in one direction, and their values in solution order: by point, then by component,
// then by lane.
namespace hockney::npb::adi {

using flow::Field;
using flow::Index;
using flow::Subgrid;
using flow::Triple;

inline constexpr std::size_t components = 5;

// Up to 8 lines; the line in lane n has its own points at `corner[n]`, `corner[n]` + step, ... Unused lanes
// repeat the last line.
struct Batch {
  std::size_t count;
  Index corner[lines_together];  // relative to the field's first own point
  bool contiguous;               // corner[n] = corner[0] + n, and may be read for all n
};

class Lines {
 public:
  Lines(const Subgrid& subgrid, std::size_t direction);

  std::size_t rows() const { return rows_; }  // own points of a line
  std::size_t batches() const { return batches_; }
  std::size_t direction() const { return direction_; }
  // Number of lines in the batches begin to end - 1.
  std::size_t lines(std::size_t begin, std::size_t end) const;
  std::size_t count(std::size_t batch) const;
  Batch batch(const Field& field, std::size_t number) const;

 private:
  std::size_t direction_, rows_;
  // Along y and z, the lines of a batch are ordered by x. Along x, they are ordered by y, continuing in the
  // next plane.
  std::size_t across_extent_, other_extent_, per_row_, batches_;
};

// Gathers the components, in the order `order`, of the points begin to end - 1 of a batch into `to`;
// consecutive points are `pitch` doubles apart.
void gather(const Field& field, const Lines& lines, const Batch& batch,
            const std::size_t (&order)[components], int begin, int end, double* to, std::size_t pitch);
// Scatters all own points, without the unused lanes, from `from`; with `add`, adds them.
void scatter(Field& field, const Lines& lines, const Batch& batch, const std::size_t (&order)[components],
             const double* from, std::size_t pitch, bool add);

}  // namespace hockney::npb::adi
