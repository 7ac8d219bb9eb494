// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "measure/buffer.hpp"
#include "npb/adi/lines.hpp"
#include "npb/flow/division.hpp"
#include "npb/frame/account.hpp"

namespace hockney::npb::adi {

// What is kept of a line: `row_size` numbers for each row, the last five of which are the right-hand side and
// then the solution. Elimination of a row depends on `depth` rows before it, and substitution on as many
// after it. Elimination does the part `elimination` of the operations.
struct System {
  std::size_t depth;
  std::size_t row_size;
  double elimination;
};

// The solution of all systems in one direction. Where lines are divided among ranks, a rank eliminates its
// rows after the previous rank has eliminated its own, and substitutes after the following one.
//
// In a multi-partition, a rank does so in one of its cells after the other, and all ranks work at the same
// time. Where it has one block, its lines are divided into chunks, which are passed on one after the other. A
// rank substitutes in a chunk soon after elimination, which bounds the memory: it is ahead by two chunks for
// each rank that follows, one because a chunk has to get to the last rank and back, the other because
// messages take time. At the end of the lines, substitution follows immediately, while a line is in the
// cache.
class Sweep {
 public:
  // `cells` are those of `division` that this rank has; chunks_of() explains `startup_points`.
  Sweep(Arena& arena, const flow::Division& division, std::span<const Subgrid> cells, std::size_t direction,
        const System& system, double startup_points);

  // compute(part, body) computes body, this part of a rank's operations. The others process a batch of the
  // lines of a cell, given by its number and its memory: `depth` rows of 8 lines, the cell's own rows, and
  // `depth` rows. eliminate() sets the own rows first, and finish() has the solution, which it may overwrite.
  template <class Compute, class Eliminate, class Substitute, class Finish>
  void run(Account& account, const Compute& compute, const Eliminate& eliminate, const Substitute& substitute,
           const Finish& finish) {
    const auto solve = [&](const Piece& piece, std::size_t batch, double* line, double*& message,
                           double*& passed) {
      end(piece, batch, line, message);
      substitute(lines_[piece.cell], line);
      pass_backward(piece, batch, line, passed);
      finish(piece.cell, lines_[piece.cell], batch, line);
    };
    for (const Step& step : plan_.steps) {
      const Piece& piece = plan_.pieces[step.piece];
      if (step.back) {
        account.receive(following_, backward(), piece.backward_bytes);
        compute(piece.part * (1 - system_.elimination), [&] {
          double *message = backward(), *passed = message;
          for (std::size_t batch = piece.begin; batch < piece.end; ++batch)
            solve(piece, batch, line_of(piece, batch), message, passed);
        });
      } else {
        if (!piece.first) account.receive(previous_, forward(), piece.forward_bytes);
        compute(piece.part * (piece.last ? 1 : system_.elimination), [&] {
          double *message = forward(), *passed = piece.last ? backward() : message;
          for (std::size_t batch = piece.begin; batch < piece.end; ++batch) {
            double* const line = line_of(piece, batch);
            begin(piece, batch, line, message);
            eliminate(piece.cell, lines_[piece.cell], batch, line);
            if (piece.last)
              solve(piece, batch, line, message, passed);
            else
              pass_forward(piece, batch, line, passed);
          }
        });
        if (!piece.last) account.send(following_, forward(), piece.forward_bytes);
      }
      if (!piece.first && (step.back || piece.last))
        account.send(previous_, backward(), piece.backward_bytes);
    }
  }

 private:
  // Lines that are passed on together.
  struct Piece {
    std::size_t cell;
    std::size_t begin, end;  // batches
    bool first, last;        // of the cells along the lines
    std::size_t slot;        // of memory
    double part;             // of the rank's points
    std::size_t forward_bytes, backward_bytes;
  };
  struct Step {
    std::size_t piece;
    bool back;
  };
  struct Plan {
    std::vector<Piece> pieces;
    std::vector<Step> steps;
    std::size_t slots = 0;  // for pieces between elimination and substitution
  };
  Plan in_chunks(const Subgrid& cell, std::size_t direction, double startup_points) const;
  Plan in_cells(std::span<const Subgrid> cells, std::size_t direction) const;
  Piece piece(std::span<const Subgrid> cells, std::size_t cell, std::size_t begin, std::size_t end) const;
  std::size_t most_batches() const;
  std::size_t message_lines() const;
  double* line_of(const Piece& piece, std::size_t batch);
  double* forward() { return reinterpret_cast<double*>(forward_.next()); }
  double* backward() { return reinterpret_cast<double*>(backward_.next()); }

  // The rows around a cell's own ones, from the message if there is another cell, and to the message. The
  // message is advanced. A message may be overwritten by the one that is passed on, batch by batch: it has
  // the same length.
  void begin(const Piece& piece, std::size_t batch, double* line, double*& message) const;
  void pass_forward(const Piece& piece, std::size_t batch, const double* line, double*& message) const;
  void end(const Piece& piece, std::size_t batch, double* line, double*& message) const;
  void pass_backward(const Piece& piece, std::size_t batch, const double* line, double*& message) const;

  const System system_;
  const std::vector<Lines> lines_;      // of each cell
  int previous_ = -1, following_ = -1;  // ranks, or none
  const Plan plan_;
  const std::size_t most_batches_;  // of a piece
  const std::size_t line_size_;
  Buffer memory_, forward_, backward_;
};

}  // namespace hockney::npb::adi
