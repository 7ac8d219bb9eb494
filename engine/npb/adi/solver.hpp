// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <span>

#include "npb/adi/sweep.hpp"
#include "npb/flow/classes.hpp"
#include "npb/flow/ghosts.hpp"
#include "npb/flow/residual.hpp"
#include "npb/flow/solution.hpp"
#include "npb/frame/kernel.hpp"

namespace hockney::npb::adi {

inline constexpr const char* phases[] = {"right-hand side", "x", "y", "z"};

// The parts of a time step's operations, by their measured times.
struct Parts {
  double residual;
  double sweep;  // of each direction
};

// What BT and SP have in common, time steps of an implicit scheme with approximate factorisation (alternating
// directions): the right-hand side r = dt R(U) is replaced by the solution of systems along x, then along y,
// then along z, and added to U. The systems of all directions follow from U before it changes.
class Solver : public Kernel {
 protected:
  Solver(const Place& place, const Values& values, std::span<const flow::FlowClass> classes,
         const System& system, const Parts& parts);

  // ---- What a benchmark defines: the systems of a batch of lines, as in Sweep ----
  virtual void eliminate(std::size_t direction, std::size_t batch, double* line) = 0;
  virtual void substitute(std::size_t direction, double* line) = 0;
  virtual void finish(std::size_t direction, std::size_t batch, double* line) = 0;
  virtual double operations(double points) const = 0;  // of a time step, with N points in each direction

  const Lines& lines(std::size_t direction) const { return sweeps_[direction]->lines(); }

  // Memory for U along a batch of lines and beyond its ends, by point.
  double* points() { return reinterpret_cast<double*>(points_.next()); }

  const flow::FlowClass& class_;
  const Subgrid subgrid_;
  Field u_, r_;

 private:
  void reset() final;
  void execute() final;
  std::vector<Answer> answers() final;
  double official_operations() const final { return class_.steps * operations(class_.points); }
  void flip() final;
  std::string decomposition() const final;

  void sweep(std::size_t direction, double operations);

  const Parts parts_;
  Buffer points_;
  Field forcing_;
  flow::Ghosts ghosts_;
  flow::Residual residual_;
  const flow::Solution solution_;
  std::array<std::unique_ptr<Sweep>, 3> sweeps_;
};

}  // namespace hockney::npb::adi
