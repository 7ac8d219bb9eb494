// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/adi/sweep.hpp"

#include <algorithm>

#include "base/parts.hpp"
#include "npb/adi/decomposition.hpp"

namespace hockney::npb::adi {
namespace {

constexpr std::size_t width = lines_together;

// The rank with the cells before (-1) or after (1) this rank's cells.
int neighbor(const flow::Division& division, std::span<const Subgrid> cells, std::size_t direction,
             int step) {
  for (const Subgrid& cell : cells) {
    Triple at = cell.place;
    at[direction] += step;
    if (0 <= at[direction] && at[direction] < cell.parts[direction]) return division.rank_of(at);
  }
  return -1;
}

std::vector<Lines> lines_of(std::span<const Subgrid> cells, std::size_t direction) {
  std::vector<Lines> lines;
  for (const Subgrid& cell : cells) lines.emplace_back(cell, direction);
  return lines;
}

// A single rank processes one batch after the other.
std::size_t number_of_chunks(const Subgrid& cell, const Lines& lines, double startup_points) {
  const int parts = cell.parts[lines.direction()];
  if (parts == 1) return 1;
  // The result is the same on all ranks of the line.
  const double points = static_cast<double>(lines.lines(0, lines.batches())) * (cell.points - 2) / parts;
  const double chunks = chunks_of(parts, points, startup_points);
  return static_cast<std::size_t>(std::min(static_cast<double>(lines.batches()), chunks));
}

void take(double* to, std::size_t numbers, std::size_t count, double*& message) {
  for (std::size_t n = 0; n < numbers; ++n, message += count) std::copy_n(message, count, to + n * width);
}

void give(const double* from, std::size_t numbers, std::size_t count, double*& message) {
  for (std::size_t n = 0; n < numbers; ++n, message += count) std::copy_n(from + n * width, count, message);
}

}  // namespace

Sweep::Sweep(Arena& arena, const flow::Division& division, std::span<const Subgrid> cells,
             std::size_t direction, const System& system, double startup_points)
    : system_(system),
      lines_(lines_of(cells, direction)),
      previous_(neighbor(division, cells, direction, -1)),
      following_(neighbor(division, cells, direction, 1)),
      plan_(division.multiple ? plan_cells(cells, direction)
                              : plan_chunks(cells[0], direction, startup_points)),
      max_batches_(max_batches()),
      line_size_((std::ranges::max(lines_, {}, &Lines::rows).rows() + 2 * system.depth) * system.row_size *
                 width),
      memory_(arena, (plan_.slots * max_batches_ + 1) * line_size_ * sizeof(double), "hot"),
      forward_message_(arena, message_lines() * system.depth * system.row_size * sizeof(double), "hot"),
      backward_message_(arena, message_lines() * system.depth * components * sizeof(double), "hot") {
  // Lanes without a line take part in the computation, but do not affect the results.
  for (Buffer* buffer : {&memory_, &forward_message_, &backward_message_})
    std::ranges::fill(buffer->upcoming(), std::byte{});
}

Sweep::Piece Sweep::piece(std::span<const Subgrid> cells, std::size_t cell, std::size_t begin,
                          std::size_t end) const {
  const Lines& lines = lines_[cell];
  const std::size_t count = lines.lines(begin, end), direction = lines.direction();
  const std::size_t bytes = count * system_.depth * sizeof(double);
  const int place = cells[cell].place[direction];
  double points = 0;
  for (const Lines& each : lines_) points += static_cast<double>(each.lines(0, each.batches()) * each.rows());
  return {cell,
          begin,
          end,
          place == 0,
          place == cells[cell].parts[direction] - 1,
          0,
          static_cast<double>(count * lines.rows()) / points,
          bytes * system_.row_size,
          bytes * components};
}

Sweep::Plan Sweep::plan_chunks(const Subgrid& cell, std::size_t direction, double startup_points) const {
  Plan plan;
  const std::size_t batches = lines_[0].batches();
  const std::size_t chunks = number_of_chunks(cell, lines_[0], startup_points);
  const int following = cell.parts[direction] - 1 - cell.place[direction];
  const std::size_t lookahead = std::min(chunks, static_cast<std::size_t>(2 * following));
  plan.slots = following == 0 ? 0 : lookahead + 1;
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const Range range = part_of(batches, chunks, chunk);
    plan.pieces.push_back(piece({&cell, 1}, 0, range.begin, range.end));
    plan.pieces.back().slot = chunk % (lookahead + 1);
  }
  for (std::size_t step = 0; step < chunks + lookahead; ++step) {
    if (step < chunks) plan.steps.push_back({step, false});
    if (following > 0 && step >= lookahead) plan.steps.push_back({step - lookahead, true});
  }
  return plan;
}

Sweep::Plan Sweep::plan_cells(std::span<const Subgrid> cells, std::size_t direction) const {
  Plan plan;
  plan.slots = cells.size() - 1;
  for (std::size_t stage = 0; stage < cells.size(); ++stage) {
    const auto position = std::ranges::find(cells, static_cast<int>(stage),
                                            [&](const Subgrid& cell) { return cell.place[direction]; });
    const auto cell = static_cast<std::size_t>(position - cells.begin());
    plan.pieces.push_back(piece(cells, cell, 0, lines_[cell].batches()));
    plan.pieces.back().slot = stage;
    plan.steps.push_back({stage, false});
  }
  for (std::size_t stage = plan.slots; stage > 0; --stage) plan.steps.push_back({stage - 1, true});
  return plan;
}

std::size_t Sweep::max_batches() const {
  std::size_t max_value = 0;
  for (const Piece& piece : plan_.pieces) max_value = std::max(max_value, piece.end - piece.begin);
  return max_value;
}

std::size_t Sweep::message_lines() const {
  return previous_ < 0 && following_ < 0 ? 1 : max_batches_ * width;
}

double* Sweep::line_of(const Piece& piece, std::size_t batch) {
  const std::size_t lines_before =
      piece.last ? plan_.slots * max_batches_ : piece.slot * max_batches_ + batch - piece.begin;
  return reinterpret_cast<double*>(memory_.next()) + lines_before * line_size_;
}

void Sweep::begin(const Piece& piece, std::size_t batch, double* line, double*& message) const {
  const std::size_t numbers = system_.depth * system_.row_size;
  if (piece.first)
    std::fill_n(line, numbers * width, 0.0);
  else
    take(line, numbers, lines_[piece.cell].count(batch), message);
}

void Sweep::pass_forward(const Piece& piece, std::size_t batch, const double* line, double*& message) const {
  const Lines& lines = lines_[piece.cell];
  const std::size_t pitch = system_.row_size * width;
  give(line + lines.rows() * pitch, system_.depth * system_.row_size, lines.count(batch), message);
}

void Sweep::end(const Piece& piece, std::size_t batch, double* line, double*& message) const {
  const Lines& lines = lines_[piece.cell];
  const std::size_t pitch = system_.row_size * width;
  for (std::size_t n = 1; n <= system_.depth; ++n) {
    double* const solution = line + (lines.rows() + system_.depth + n) * pitch - components * width;
    if (piece.last)
      std::fill_n(solution, components * width, 0.0);
    else
      take(solution, components, lines.count(batch), message);
  }
}

void Sweep::pass_backward(const Piece& piece, std::size_t batch, const double* line, double*& message) const {
  if (piece.first) return;
  const std::size_t pitch = system_.row_size * width;
  for (std::size_t n = 1; n <= system_.depth; ++n)
    give(line + (system_.depth + n) * pitch - components * width, components, lines_[piece.cell].count(batch),
         message);
}

}  // namespace hockney::npb::adi
