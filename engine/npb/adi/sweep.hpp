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

// The layout of a system: `row_size` numbers for each row, the last five of which are the right-hand side and
// later the solution. The elimination of a row depends on the `depth` preceding rows, and its substitution on
// the `depth` following ones. `elimination` is the elimination's share of the operations.
struct System {
  std::size_t depth;
  std::size_t row_size;
  double elimination;
};

// The solution of all systems in one direction. If lines are divided among ranks, a rank eliminates its rows
// after the previous rank has eliminated its own, and substitutes after the next rank.
// In a multi-partition, a rank does so in its cells one after the other, and all ranks work at the same time.
// With one block per rank, its lines are divided into chunks, which are passed on one after the other. A rank
// substitutes in a chunk soon after elimination, which bounds the memory. It is ahead by two chunks for each
// rank that follows: one because a chunk has to reach the last rank and return, the other because messages
// take time. At the end of the lines, substitution follows immediately, while a line is in the cache.
class Sweep {
 public:
  // `cells` are this rank's cells in `division`; chunks_of() explains `startup_points`.
  Sweep(Arena& arena, const flow::Division& division, std::span<const Subgrid> cells, std::size_t direction,
        const System& system, double startup_points);

  // compute(share, body) computes body, this share of a rank's operations. The other functions process a
  // batch of the lines of a cell, given by its number and its memory: `depth` rows of 8 lines, the cell's own
  // rows, and `depth` rows. eliminate() first sets the own rows; finish() receives the solution, which it may
  // overwrite.
  template <class Compute, class Eliminate, class Substitute, class Finish>
  void run(Account& account, const Compute& compute, const Eliminate& eliminate, const Substitute& substitute,
           const Finish& finish) {
    const auto solve = [&](const Piece& piece, std::size_t batch, double* line, double*& message,
                           double*& outgoing_message) {
      end(piece, batch, line, message);
      substitute(lines_[piece.cell], line);
      pass_backward(piece, batch, line, outgoing_message);
      finish(piece.cell, lines_[piece.cell], batch, line);
    };
    for (const Step& step : plan_.steps) {
      const Piece& piece = plan_.pieces[step.piece];
      if (step.back) {
        account.receive(following_, backward_message(), piece.backward_bytes);
        compute(piece.share * (1 - system_.elimination), [&] {
          double *message = backward_message(), *outgoing_message = message;
          for (std::size_t batch = piece.begin; batch < piece.end; ++batch)
            solve(piece, batch, line_of(piece, batch), message, outgoing_message);
        });
      } else {
        if (!piece.first) account.receive(previous_, forward_message(), piece.forward_bytes);
        compute(piece.share * (piece.last ? 1 : system_.elimination), [&] {
          double *message = forward_message(), *outgoing_message = piece.last ? backward_message() : message;
          for (std::size_t batch = piece.begin; batch < piece.end; ++batch) {
            double* const line = line_of(piece, batch);
            begin(piece, batch, line, message);
            eliminate(piece.cell, lines_[piece.cell], batch, line);
            if (piece.last)
              solve(piece, batch, line, message, outgoing_message);
            else
              pass_forward(piece, batch, line, outgoing_message);
          }
        });
        if (!piece.last) account.send(following_, forward_message(), piece.forward_bytes);
      }
      if (!piece.first && (step.back || piece.last))
        account.send(previous_, backward_message(), piece.backward_bytes);
    }
  }

 private:
  // Lines that are passed on together.
  struct Piece {
    std::size_t cell;
    std::size_t begin, end;  // batches
    bool first, last;        // of the cells along the lines
    std::size_t slot;        // of memory
    double share;            // of the rank's points
    std::size_t forward_bytes, backward_bytes;
  };
  struct Step {
    std::size_t piece;
    bool back;
  };
  struct Plan {
    std::vector<Piece> pieces;
    std::vector<Step> steps;
    std::size_t slots = 0;  // number of pieces between elimination and substitution
  };
  Plan plan_chunks(const Subgrid& cell, std::size_t direction, double startup_points) const;
  Plan plan_cells(std::span<const Subgrid> cells, std::size_t direction) const;
  Piece piece(std::span<const Subgrid> cells, std::size_t cell, std::size_t begin, std::size_t end) const;
  std::size_t max_batches() const;
  std::size_t message_lines() const;
  double* line_of(const Piece& piece, std::size_t batch);
  double* forward_message() { return reinterpret_cast<double*>(forward_message_.next()); }
  double* backward_message() { return reinterpret_cast<double*>(backward_message_.next()); }

  // Copy the rows next to a cell's own ones from the message, if there is a neighboring cell, and to the
  // message. `message` is advanced. A message may be overwritten by the outgoing one, batch by batch, since
  // both have the same length.
  void begin(const Piece& piece, std::size_t batch, double* line, double*& message) const;
  void pass_forward(const Piece& piece, std::size_t batch, const double* line, double*& message) const;
  void end(const Piece& piece, std::size_t batch, double* line, double*& message) const;
  void pass_backward(const Piece& piece, std::size_t batch, const double* line, double*& message) const;

  const System system_;
  const std::vector<Lines> lines_;      // one per cell
  int previous_ = -1, following_ = -1;  // ranks, or -1
  const Plan plan_;
  const std::size_t max_batches_;  // per piece
  const std::size_t line_size_;
  Buffer memory_, forward_message_, backward_message_;
};

}  // namespace hockney::npb::adi
