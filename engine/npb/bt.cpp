// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/adi/solver.hpp"
#include "npb/bt/block_lines.hpp"
#include "npb/flow/equations.hpp"

namespace hockney::npb {
namespace {

// Block tridiagonal solves along x, y and z (Bailey et al. 1994, section 3.7), as in bt/block_lines.hpp and
// adi/solver.hpp.
class Bt final : public adi::Solver {
 public:
  Bt(const Place& place, const Values& values)
      : Solver(place, values, flow::bt_classes, {1, block_tridiagonal::row_size, 0.86}, {0.28, 0.24},
               operations) {}

 private:
  static constexpr std::size_t pitch = block_tridiagonal::row_size * adi::lines_together;

  void eliminate(const adi::Cell& cell, const adi::Lines& lines, std::size_t number, double* line) override {
    const adi::Batch batch = lines.batch(cell.u, number);
    const Order order = order_of(lines.direction());
    const double step = class_.time_step, inverse = class_.points - 1;
    const int rows = static_cast<int>(lines.rows());
    adi::gather(cell.u, lines, batch, order.of, -1, rows + 1, points(),
                adi::components * adi::lines_together);
    block_tridiagonal::set_points(lines.rows() + 2, points());
    adi::gather(cell.r, lines, batch, order.of, 0, rows, line + pitch + right, pitch);
    block_tridiagonal::eliminate(
        {step * inverse / 2, step * inverse * inverse, flow::viscosity[lines.direction()]}, lines.rows(),
        points(), line);
  }

  void substitute(const adi::Lines& lines, double* line) override {
    block_tridiagonal::substitute(lines.rows(), line);
  }

  // The solution in the last direction is the change of U.
  void finish(adi::Cell& cell, const adi::Lines& lines, std::size_t number, double* line) override {
    const adi::Batch batch = lines.batch(cell.u, number);
    const bool last = lines.direction() == 2;
    adi::scatter(last ? cell.u : cell.r, lines, batch, order_of(lines.direction()).of, line + pitch + right,
                 pitch, last);
  }

  // Operation count of the NPB 3.4 sources (Bailey et al. 1994).
  static double operations(double n) { return 3478.8 * n * n * n - 17655.7 * n * n + 28023.7 * n; }

  // The order of components in which the momentum along the lines comes first.
  struct Order {
    std::size_t of[adi::components];
  };
  static Order order_of(std::size_t direction) {
    return {{0, 1 + direction, 1 + (direction + 1) % 3, 1 + (direction + 2) % 3, 4}};
  }
  static constexpr std::size_t right = block_tridiagonal::block_size * adi::lines_together;
};

constexpr auto bt_parameters =
    adi::parameters("S|W|A|B|C|tiny", "12^3, 24^3, 64^3, 102^3, 162^3 or 9^3 points");

}  // namespace

extern constinit const WorkloadInfo bt = kernel_info(
    "bt", "BT of the NAS Parallel Benchmarks: implicit time steps of a flow, block tridiagonal systems",
    bt_parameters, make<Bt>);

}  // namespace hockney::npb
