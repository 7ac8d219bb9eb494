// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measure/buffer.hpp"
#include "npb/adi/lines.hpp"
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
// rows after the previous rank has eliminated its own, and substitutes after the following one. So that all
// work at the same time, the lines are divided into chunks, which are passed on one after the other. A rank
// substitutes in a chunk soon after elimination, which bounds the memory: it is ahead by two chunks for each
// rank that follows, one because a chunk has to get to the last rank and back, the other because messages
// take time. The last rank substitutes immediately, while a line is in the cache.
class Sweep {
 public:
  Sweep(Arena& arena, const Subgrid& subgrid, std::size_t direction, const System& system);

  const Lines& lines() const { return lines_; }

  // compute(part, body) computes body, this part of a rank's operations. The others process a batch, given by
  // its number and its memory: `depth` rows of 8 lines, the rank's own rows, and `depth` rows. eliminate()
  // sets the own rows first, and finish() has the solution, which it may overwrite.
  template <class Compute, class Eliminate, class Substitute, class Finish>
  void run(Account& account, const Compute& compute, const Eliminate& eliminate, const Substitute& substitute,
           const Finish& finish) {
    const bool last = following_ < 0;
    for (std::size_t step = 0; step < chunks_ + ahead_; ++step) {
      if (step < chunks_) {
        const Chunk chunk = chunk_at(step);
        if (previous_ >= 0) account.receive(previous_, forward(), chunk.forward_bytes);
        compute(chunk.part * (last ? 1 : system_.elimination), [&] {
          double* message = forward();
          double* passed = last ? backward() : forward();
          for (std::size_t batch = chunk.begin; batch < chunk.end; ++batch) {
            double* const line = line_of(chunk, batch);
            begin(batch, line, message);
            eliminate(batch, line);
            if (!last) {
              pass_forward(batch, line, passed);
              continue;
            }
            end(batch, line, message);
            substitute(batch, line);
            pass_backward(batch, line, passed);
            finish(batch, line);
          }
        });
        if (!last)
          account.send(following_, forward(), chunk.forward_bytes);
        else if (previous_ >= 0)
          account.send(previous_, backward(), chunk.backward_bytes);
      }
      if (last || step < ahead_) continue;
      const Chunk chunk = chunk_at(step - ahead_);
      account.receive(following_, backward(), chunk.backward_bytes);
      compute(chunk.part * (1 - system_.elimination), [&] {
        double* message = backward();
        double* passed = backward();
        for (std::size_t batch = chunk.begin; batch < chunk.end; ++batch) {
          double* const line = line_of(chunk, batch);
          end(batch, line, message);
          substitute(batch, line);
          pass_backward(batch, line, passed);
          finish(batch, line);
        }
      });
      if (previous_ >= 0) account.send(previous_, backward(), chunk.backward_bytes);
    }
  }

 private:
  struct Chunk {
    std::size_t begin, end;  // batches
    std::size_t slot;
    double part;  // of this rank's lines
    std::size_t forward_bytes, backward_bytes;
  };
  Chunk chunk_at(std::size_t number) const;
  std::size_t message_lines() const;
  double* line_of(const Chunk& chunk, std::size_t batch);
  double* forward() { return reinterpret_cast<double*>(forward_.next()); }
  double* backward() { return reinterpret_cast<double*>(backward_.next()); }

  // The rows around a rank's own ones, from the message if there is another rank, and to the message. The
  // message is advanced. A message may be overwritten by the one that is passed on, batch by batch: it has
  // the same length.
  void begin(std::size_t batch, double* line, double*& message) const;
  void pass_forward(std::size_t batch, const double* line, double*& message) const;
  void end(std::size_t batch, double* line, double*& message) const;
  void pass_backward(std::size_t batch, const double* line, double*& message) const;

  const System system_;
  const Lines lines_;
  int previous_ = -1, following_ = -1;  // ranks, or none
  std::size_t chunks_, ahead_;
  std::size_t most_batches_;  // of a chunk
  std::size_t line_size_;
  Buffer memory_, forward_, backward_;
};

}  // namespace hockney::npb::adi
