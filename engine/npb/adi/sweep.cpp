// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/adi/sweep.hpp"

#include <algorithm>

#include "base/parts.hpp"
#include "npb/adi/decomposition.hpp"

namespace hockney::npb::adi {
namespace {

constexpr std::size_t width = lines_together;

int rank_at(const Subgrid& subgrid, std::size_t direction, int steps) {
  Triple at = subgrid.place;
  at[direction] += steps;
  return 0 <= at[direction] && at[direction] < subgrid.parts[direction] ? subgrid.rank_of(at) : -1;
}

// A single rank processes one batch after the other.
std::size_t number_of_chunks(const Subgrid& subgrid, std::size_t direction, const Lines& lines) {
  const int parts = subgrid.parts[direction];
  if (parts == 1) return 1;
  // The same on all ranks of the line.
  const double points = static_cast<double>(lines.lines(0, lines.batches())) * (subgrid.points - 2) / parts;
  return std::min(lines.batches(), static_cast<std::size_t>(chunks_of(parts, points)));
}

std::size_t chunks_ahead(const Subgrid& subgrid, std::size_t direction, std::size_t chunks) {
  const int following = subgrid.parts[direction] - 1 - subgrid.place[direction];
  return std::min(chunks, static_cast<std::size_t>(2 * following));
}

void take(double* to, std::size_t numbers, std::size_t count, double*& message) {
  for (std::size_t n = 0; n < numbers; ++n, message += count) std::copy_n(message, count, to + n * width);
}

void give(const double* from, std::size_t numbers, std::size_t count, double*& message) {
  for (std::size_t n = 0; n < numbers; ++n, message += count) std::copy_n(from + n * width, count, message);
}

}  // namespace

Sweep::Sweep(Arena& arena, const Subgrid& subgrid, std::size_t direction, const System& system)
    : system_(system),
      lines_(subgrid, direction),
      previous_(rank_at(subgrid, direction, -1)),
      following_(rank_at(subgrid, direction, 1)),
      chunks_(number_of_chunks(subgrid, direction, lines_)),
      ahead_(chunks_ahead(subgrid, direction, chunks_)),
      most_batches_((lines_.batches() + chunks_ - 1) / chunks_),
      line_size_((lines_.rows() + 2 * system.depth) * system.row_size * width),
      memory_(arena, (following_ < 0 ? 1 : (ahead_ + 1) * most_batches_) * line_size_ * sizeof(double),
              "hot"),
      forward_(arena, message_lines() * system.depth * system.row_size * sizeof(double), "hot"),
      backward_(arena, message_lines() * system.depth * components * sizeof(double), "hot") {
  // Lanes without a line are computed with, but have no influence.
  for (Buffer* buffer : {&memory_, &forward_, &backward_}) std::ranges::fill(buffer->upcoming(), std::byte{});
}

Sweep::Chunk Sweep::chunk_at(std::size_t number) const {
  const Range range = part_of(lines_.batches(), chunks_, number);
  const std::size_t lines = lines_.lines(range.begin, range.end);
  const std::size_t bytes = lines * system_.depth * sizeof(double);
  return {range.begin,
          range.end,
          number % (ahead_ + 1),
          static_cast<double>(lines) / static_cast<double>(lines_.lines(0, lines_.batches())),
          bytes * system_.row_size,
          bytes * components};
}

double* Sweep::line_of(const Chunk& chunk, std::size_t batch) {
  auto* const memory = reinterpret_cast<double*>(memory_.next());
  return following_ < 0 ? memory : memory + (chunk.slot * most_batches_ + batch - chunk.begin) * line_size_;
}

std::size_t Sweep::message_lines() const {
  return previous_ < 0 && following_ < 0 ? 1 : most_batches_ * width;
}

void Sweep::begin(std::size_t batch, double* line, double*& message) const {
  const std::size_t numbers = system_.depth * system_.row_size;
  if (previous_ < 0)
    std::fill_n(line, numbers * width, 0.0);
  else
    take(line, numbers, lines_.count(batch), message);
}

void Sweep::pass_forward(std::size_t batch, const double* line, double*& message) const {
  const std::size_t pitch = system_.row_size * width;
  give(line + lines_.rows() * pitch, system_.depth * system_.row_size, lines_.count(batch), message);
}

void Sweep::end(std::size_t batch, double* line, double*& message) const {
  const std::size_t pitch = system_.row_size * width;
  for (std::size_t n = 1; n <= system_.depth; ++n) {
    double* const solution = line + (lines_.rows() + system_.depth + n) * pitch - components * width;
    if (following_ < 0)
      std::fill_n(solution, components * width, 0.0);
    else
      take(solution, components, lines_.count(batch), message);
  }
}

void Sweep::pass_backward(std::size_t batch, const double* line, double*& message) const {
  if (previous_ < 0) return;
  const std::size_t pitch = system_.row_size * width;
  for (std::size_t n = 1; n <= system_.depth; ++n)
    give(line + (system_.depth + n) * pitch - components * width, components, lines_.count(batch), message);
}

}  // namespace hockney::npb::adi
