// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/adi/solver.hpp"

#include <algorithm>

#include "npb/adi/decomposition.hpp"

namespace hockney::npb::adi {
namespace {

Subgrid own_part(const Comm& comm, const flow::FlowClass& problem) {
  const Triple parts = divide(comm.size, problem.points);
  return {problem.points, parts, Subgrid::place_of(comm.rank, parts)};
}

std::size_t longest(const Subgrid& subgrid) {
  return static_cast<std::size_t>(*std::ranges::max_element(subgrid.size));
}

}  // namespace

Solver::Solver(const Place& place, const Values& values, std::span<const flow::FlowClass> classes,
               const System& system, const Parts& parts)
    : Kernel(place, values, phases),
      class_(class_of(classes, values)),
      subgrid_(own_part(place.comm, class_)),
      u_(place.arena, subgrid_),
      r_(place.arena, subgrid_),
      parts_(parts),
      points_(place.arena, (longest(subgrid_) + 2) * components * lines_together * sizeof(double), "hot"),
      forcing_(place.arena, subgrid_),
      ghosts_(subgrid_),
      residual_(place.arena, subgrid_, class_.time_step),
      solution_(subgrid_) {
  for (std::size_t d = 0; d < 3; ++d) sweeps_[d] = std::make_unique<Sweep>(place.arena, subgrid_, d, system);
  if (!arithmetic_) return;
  solution_.set_exact(u_);
  residual_.apply(u_, nullptr, forcing_);
}

void Solver::reset() {
  if (arithmetic_) solution_.set_initial(u_);
}

void Solver::execute() {
  const double step = operations(class_.points) * subgrid_.share();
  for (int i = 0; i < class_.steps; ++i) {
    account_.phase(0);
    compute(0, [&] { ghosts_.pack(u_); });
    ghosts_.exchange(account_);
    compute(parts_.residual * step, [&] {
      ghosts_.unpack(u_);
      residual_.apply(u_, &forcing_, r_);
    });
    for (std::size_t d = 0; d < 3; ++d) {
      step_ends();
      account_.phase(1 + d);
      sweep(d, parts_.sweep * step);
    }
    iteration_ends(i, class_.steps);
  }
}

void Solver::sweep(std::size_t direction, double operations) {
  sweeps_[direction]->run(
      account_, [&](double part, const auto& body) { compute(part * operations, body); },
      [&](std::size_t batch, double* line) { eliminate(direction, batch, line); },
      [&](std::size_t, double* line) { substitute(direction, line); },
      [&](std::size_t batch, double* line) { finish(direction, batch, line); });
}

std::vector<Answer> Solver::answers() {
  // Not of the run: it has an account of its own.
  Account account(comm_, 1, nullptr);
  ghosts_.pack(u_);
  ghosts_.exchange(account);
  ghosts_.unpack(u_);
  residual_.apply(u_, &forcing_, r_);
  const flow::Five residual = flow::root_mean(comm_, flow::squares(r_, subgrid_), subgrid_);
  const flow::Five error = flow::root_mean(comm_, solution_.error_squares(u_), subgrid_);
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
  flip_bit(u_.row(0, 0, 0)[0]);
}

std::string Solver::decomposition() const {
  const Triple& parts = subgrid_.parts;
  return std::to_string(parts[0]) + " x " + std::to_string(parts[1]) + " x " + std::to_string(parts[2]) +
         " blocks";
}

}  // namespace hockney::npb::adi
