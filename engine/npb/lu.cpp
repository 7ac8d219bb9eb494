// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/invalid_case.hpp"
#include "npb/flow/classes.hpp"
#include "npb/flow/ghosts.hpp"
#include "npb/flow/pipelining.hpp"
#include "npb/flow/residual.hpp"
#include "npb/flow/solution.hpp"
#include "npb/frame/kernel.hpp"
#include "npb/ssor/pipeline.hpp"
#include "npb/ssor/surface.hpp"
#include "npb/ssor/sweeps.hpp"

namespace hockney::npb {
namespace {

constexpr const char* lu_phases[] = {"lower sweep", "upper sweep", "right-hand side", "norms"};
// Shares of a step's computation, measured for class A on one rank.
constexpr double lu_sweep_share = 0.3, lu_residual_share = 0.4;

// Columns of points, x by y: as square as possible, with more parts in y, so that rows are long.
flow::Triple lu_parts(int ranks, int points) {
  const int columns = points - 2;
  for (int usable_ranks = ranks;; --usable_ranks) {
    int x = 1;
    for (int i = 1; i * i <= usable_ranks; ++i)
      if (usable_ranks % i == 0) x = i;
    if (usable_ranks / x > columns) continue;
    if (usable_ranks == ranks) return {x, ranks / x, 1};
    throw InvalidCase(std::to_string(ranks) + " ranks cannot divide the " + std::to_string(columns) + " x " +
                      std::to_string(columns) + " inner columns of the grid; use " +
                      std::to_string(usable_ranks));
  }
}

// Symmetric successive over-relaxation for the compressible Navier-Stokes equations. Ranks have columns of
// points; each of a step's two sweeps goes through the planes as a pipeline.
class Lu final : public Kernel {
 public:
  Lu(const Place& place, const Values& values)
      : Kernel(place, values, lu_phases),
        class_(class_of<flow::FlowClass>(flow::lu_classes, values)),
        division_{class_.points, lu_parts(place.comm.size, class_.points)},
        subgrid_(division_.cells_of(place.comm.rank)[0]),
        u_(place.arena, subgrid_),
        v_(place.arena, subgrid_),
        forcing_(place.arena, subgrid_),
        solution_(subgrid_),
        ghosts_(division_, {{&subgrid_, &u_}}),
        residual_(place.arena, subgrid_, class_.time_step),
        pipeline_(division_, subgrid_, static_cast<int>(values.integer("planes")),
                  flow::startup_points(operations_per_point(), values)),
        sweeps_(place.arena, subgrid_, class_.time_step) {
    if (!arithmetic_) return;
    solution_.set_exact(u_);
    residual_.apply(u_, nullptr, forcing_);
  }

 private:
  void reset() override {
    if (!arithmetic_) return;
    solution_.set_initial(u_);
    residual_.apply(u_, &forcing_, v_);
  }

  // v is the time step times the residual at the beginning of a step, and a multiple of U's change at its
  // end.
  void execute() override {
    for (int step = 0; step < class_.steps; ++step) {
      account_.phase(0);
      for (int chunk = 0; chunk < pipeline_.chunks(); ++chunk)
        sweep(ssor::End::lower, ssor::End::upper, pipeline_.planes(chunk));
      end_step();
      account_.phase(1);
      for (int chunk = pipeline_.chunks() - 1; chunk >= 0; --chunk)
        sweep(ssor::End::upper, ssor::End::lower, pipeline_.planes(chunk));
      end_step();
      const bool last = step == class_.steps - 1;
      if (last) sum_squares(change_);
      account_.phase(2);
      compute(0, [this] { ghosts_.pack(); });
      ghosts_.exchange(account_);
      compute(lu_residual_share * step_operations(), [this] {
        ghosts_.unpack();
        residual_.apply(u_, &forcing_, v_);
      });
      end_step();
      if (last) sum_squares(squares_);
      end_iteration(step, class_.steps);
    }
  }

  void sweep(ssor::End from, ssor::End to, const ssor::Planes& planes) {
    pipeline_.receive(account_, from, planes);
    const double part = static_cast<double>(planes.end - planes.begin) / subgrid_.size[2];
    compute(lu_sweep_share * part * step_operations(), [&] {
      pipeline_.unpack(v_, from, planes);
      if (from == ssor::End::lower)
        sweeps_.lower(u_, v_, planes.begin, planes.end);
      else
        sweeps_.upper(u_, v_, planes.begin, planes.end);
      pipeline_.pack(v_, to, planes);
    });
    pipeline_.send(account_, to, planes);
  }

  // The benchmark computes norms after the last step only.
  void sum_squares(flow::Five& sums) {
    account_.phase(3);
    compute(0, [&] { sums = flow::squares(v_, subgrid_); });
    account_.sum(sums.data(), 5);
  }

  // Operations of a sweep.
  double operations_per_point() const {
    return lu_sweep_share * official_operations() / class_.steps / subgrid_.interior();
  }
  // This rank's operations in a step.
  double step_operations() const { return official_operations() / class_.steps * subgrid_.share(); }

  std::vector<Answer> answers() override {
    const flow::Five residual = flow::root_mean(squares_, subgrid_);
    const flow::Five error = flow::root_mean(comm_, solution_.error_squares(u_), subgrid_);
    std::vector<Answer> all;
    for (std::size_t m = 0; m < 5; ++m) {
      const std::string number = std::to_string(m + 1);
      all.push_back(
          {"residual " + number, residual[m] / class_.time_step, class_.residual[m], flow::flow_tolerance});
      all.push_back({"error " + number, error[m], class_.error[m], flow::flow_tolerance});
    }
    all.push_back({"surface integral", ssor::surface_integral(comm_, u_, subgrid_), class_.surface,
                   flow::flow_tolerance});
    return all;
  }
  double official_operations() const override {
    const double n = class_.points;
    return class_.steps * (1984.77 * n * n * n - 10923.3 * n * n + 27770.9 * n - 144010);
  }
  void flip() override {
    flip_bit(u_.row(0, subgrid_.size[1] / 2, subgrid_.size[2] / 2)[subgrid_.size[0] / 2]);
  }
  std::string decomposition() const override {
    return std::to_string(subgrid_.parts[0]) + " x " + std::to_string(subgrid_.parts[1]) +
           " columns, sweeps in " + std::to_string(pipeline_.chunks()) + " chunks of planes";
  }

  const flow::FlowClass class_;
  const flow::Division division_;
  const flow::Subgrid subgrid_;
  flow::Field u_, v_, forcing_;
  flow::Solution solution_;
  flow::Ghosts ghosts_;
  flow::Residual residual_;
  ssor::Pipeline pipeline_;
  ssor::Sweeps sweeps_;
  flow::Five change_{}, squares_{};
};

constexpr Parameter planes{
    "planes",
    Kind::integer,
    "",
    "0",
    0,
    160,
    "",
    "planes of the grid in each message of a sweep, on several ranks; 0: so many that the ranks begin early, "
    "but are not busy with messages"};
constexpr auto lu_parameters =
    flow::with(kernel_parameters("S|W|A|B|C|tiny", "a grid of 12, 33, 64, 102, 162 or 9 points a side"),
               planes, flow::startup);

}  // namespace

extern constinit const WorkloadInfo lu = kernel_info(
    "lu", "LU of the NAS Parallel Benchmarks: a flow by symmetric over-relaxation, in pipelined sweeps",
    lu_parameters, make<Lu>);

}  // namespace hockney::npb
