// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <span>

#include "npb/adi/sweep.hpp"
#include "npb/flow/classes.hpp"
#include "npb/flow/ghosts.hpp"
#include "npb/flow/pipelining.hpp"
#include "npb/flow/residual.hpp"
#include "npb/flow/solution.hpp"
#include "npb/frame/kernel.hpp"

namespace hockney::npb::adi {

inline constexpr const char* phases[] = {"right-hand side", "x", "y", "z"};

// Shares of a time step's operations, from measured times.
struct Parts {
  double residual;
  double sweep;  // for each direction
};

// A block of the grid with U and the right-hand side, which is replaced by the solutions.
struct Cell {
  Cell(Arena& arena, const Subgrid& subgrid, double time_step);

  const Subgrid subgrid;
  Field u, r, forcing;
  flow::Residual residual;
  const flow::Solution solution;
};

// Base class of BT and SP: time steps of an implicit scheme with approximate factorisation (alternating
// directions). The right-hand side r = dt R(U) is replaced by the solution of systems along x, then along y,
// then along z, and added to U. The systems of all directions depend on U before it changes.
class Solver : public Kernel {
 protected:
  // `operations` returns the operations of a time step with the given number of points in each direction.
  Solver(const Place& place, const Values& values, std::span<const flow::FlowClass> classes,
         const System& system, const Parts& parts, double (*operations)(double points));

  // ---- Defined by a benchmark: the systems of a batch of lines, as in Sweep ----
  virtual void eliminate(const Cell& cell, const Lines& lines, std::size_t batch, double* line) = 0;
  virtual void substitute(const Lines& lines, double* line) = 0;
  virtual void finish(Cell& cell, const Lines& lines, std::size_t batch, double* line) = 0;

  // Memory for U along a batch of lines and beyond their ends, by point.
  double* points() { return reinterpret_cast<double*>(points_.next()); }

  const flow::FlowClass& class_;

 private:
  void reset() final;
  void execute() final;
  std::vector<Answer> answers() final;
  double official_operations() const final { return class_.steps * operations_; }
  void flip() final;
  std::string decomposition() const final;

  void sweep(std::size_t direction, double operations);
  double startup_points(const Values& values) const;
  // The sum of sums(cell) over all cells of the grid.
  template <class Sums>
  flow::Five root_mean(const Sums& sums) const;

  const Parts parts_;
  const double operations_;  // per time step
  const flow::Division division_;
  std::deque<Cell> cells_;
  Buffer points_;
  flow::Ghosts ghosts_;
  std::array<std::unique_ptr<Sweep>, 3> sweeps_;
};

// Parameters of a benchmark with these classes.
constexpr auto parameters(const char* classes, const char* sizes) {
  return flow::with(kernel_parameters(classes, sizes), flow::startup);
}

}  // namespace hockney::npb::adi
