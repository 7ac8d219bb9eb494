// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/adi/solver.hpp"

#include <algorithm>

#include "npb/adi/decomposition.hpp"

namespace hockney::npb::adi {
namespace {

std::deque<Cell> cells_of(Arena& arena, const flow::Division& division, int rank, double time_step) {
  std::deque<Cell> cells;
  for (const Subgrid& subgrid : division.cells_of(rank)) cells.emplace_back(arena, subgrid, time_step);
  return cells;
}

std::size_t max_lines(const std::deque<Cell>& cells) {
  int max_lines = 0;
  for (const Cell& cell : cells)
    max_lines = std::max(max_lines, *std::ranges::max_element(cell.subgrid.size));
  return static_cast<std::size_t>(max_lines);
}

std::vector<flow::Block> blocks_of(std::deque<Cell>& cells) {
  std::vector<flow::Block> blocks;
  for (Cell& cell : cells) blocks.push_back({&cell.subgrid, &cell.u});
  return blocks;
}

}  // namespace

Cell::Cell(Arena& arena, const Subgrid& subgrid, double time_step)
    : subgrid(subgrid),
      u(arena, subgrid),
      r(arena, subgrid),
      forcing(arena, subgrid),
      residual(arena, subgrid, time_step),
      solution(subgrid) {}

Solver::Solver(const Place& place, const Values& values, std::span<const flow::FlowClass> classes,
               const System& system, const Parts& parts, double (*operations)(double points))
    : Kernel(place, values, phases),
      class_(class_of(classes, values)),
      parts_(parts),
      operations_(operations(class_.points)),
      division_(divide(place.comm.size, class_.points, startup_points(values))),
      cells_(cells_of(place.arena, division_, place.comm.rank, class_.time_step)),
      points_(place.arena, (max_lines(cells_) + 2) * components * lines_together * sizeof(double), "hot"),
      ghosts_(division_, blocks_of(cells_)) {
  const std::vector<Subgrid> subgrids = division_.cells_of(place.comm.rank);
  for (std::size_t d = 0; d < 3; ++d)
    sweeps_[d] = std::make_unique<Sweep>(place.arena, division_, subgrids, d, system, startup_points(values));
  if (!arithmetic_) return;
  for (Cell& cell : cells_) {
    cell.solution.set_exact(cell.u);
    cell.residual.apply(cell.u, nullptr, cell.forcing);
  }
}

void Solver::reset() {
  if (!arithmetic_) return;
  for (Cell& cell : cells_) cell.solution.set_initial(cell.u);
}

void Solver::execute() {
  double share = 0;
  for (const Cell& cell : cells_) share += cell.subgrid.share();
  const double step = operations_ * share;
  for (int i = 0; i < class_.steps; ++i) {
    account_.phase(0);
    compute(0, [&] { ghosts_.pack(); });
    ghosts_.exchange(account_);
    compute(parts_.residual * step, [&] {
      ghosts_.unpack();
      for (Cell& cell : cells_) cell.residual.apply(cell.u, &cell.forcing, cell.r);
    });
    for (std::size_t d = 0; d < 3; ++d) {
      end_step();
      account_.phase(1 + d);
      sweep(d, parts_.sweep * step);
    }
    end_iteration(i, class_.steps);
  }
}

void Solver::sweep(std::size_t direction, double operations) {
  sweeps_[direction]->run(
      account_, [&](double share, const auto& body) { compute(share * operations, body); },
      [&](std::size_t cell, const Lines& lines, std::size_t batch, double* line) {
        eliminate(cells_[cell], lines, batch, line);
      },
      [&](const Lines& lines, double* line) { substitute(lines, line); },
      [&](std::size_t cell, const Lines& lines, std::size_t batch, double* line) {
        finish(cells_[cell], lines, batch, line);
      });
}

double Solver::startup_points(const Values& values) const {
  const double interior = class_.points - 2.0;
  return flow::startup_points(parts_.sweep * operations_ / (interior * interior * interior), values);
}

template <class Sums>
flow::Five Solver::root_mean(const Sums& sums) const {
  flow::Five all{};
  for (const Cell& cell : cells_) {
    const flow::Five local_sums = sums(cell);
    for (std::size_t m = 0; m < components; ++m) all[m] += local_sums[m];
  }
  return flow::root_mean(comm_, all, cells_[0].subgrid);
}

std::vector<Answer> Solver::answers() {
  // This communication is not part of the run, so it has a separate account.
  Account account(comm_, 1, nullptr);
  ghosts_.pack();
  ghosts_.exchange(account);
  ghosts_.unpack();
  for (Cell& cell : cells_) cell.residual.apply(cell.u, &cell.forcing, cell.r);
  const flow::Five residual = root_mean([](const Cell& cell) { return flow::squares(cell.r, cell.subgrid); });
  const flow::Five error = root_mean([](const Cell& cell) { return cell.solution.error_squares(cell.u); });
  std::vector<Answer> answers;
  for (std::size_t m = 0; m < components; ++m)
    answers.push_back({std::string("residual ").append(std::to_string(m + 1)), residual[m] / class_.time_step,
                       class_.residual[m], flow::flow_tolerance});
  for (std::size_t m = 0; m < components; ++m)
    answers.push_back({std::string("error ").append(std::to_string(m + 1)), error[m], class_.error[m],
                       flow::flow_tolerance});
  return answers;
}

void Solver::flip() {
  flip_bit(cells_[0].u.row(0, 0, 0)[0]);
}

std::string Solver::decomposition() const {
  const Triple& parts = division_.parts;
  const std::string text =
      std::to_string(parts[0]) + " x " + std::to_string(parts[1]) + " x " + std::to_string(parts[2]);
  return division_.multiple ? text + " cells in a multi-partition" : text + " blocks";
}

}  // namespace hockney::npb::adi
