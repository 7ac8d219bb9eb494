// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/adi/solver.hpp"
#include "npb/flow/equations.hpp"
#include "npb/sp/characteristics.hpp"
#include "npb/sp/penta_lines.hpp"

namespace hockney::npb {
namespace {

// Scalar pentadiagonal solves along x, y and z in characteristic variables (Bailey et al. 1994, section 3.7),
// as in sp/penta_lines.hpp and adi/solver.hpp.
class Sp final : public adi::Solver {
 public:
  Sp(const Place& place, const Values& values)
      : Solver(place, values, flow::sp_classes, {2, pentadiagonal::row_size, 0.83}, {0.4, 0.2}, operations) {}

 private:
  static constexpr std::size_t point_pitch = adi::components * adi::lines_together;
  static constexpr std::size_t pitch = pentadiagonal::row_size * adi::lines_together;
  // Index of the right-hand sides of a line's own rows.
  static constexpr std::size_t first_own_value = 2 * pitch + 2 * pentadiagonal::systems * adi::lines_together;

  void eliminate(const adi::Cell& cell, const adi::Lines& lines, std::size_t number, double* line) override {
    const adi::Batch batch = lines.batch(cell.u, number);
    const std::size_t rows = lines.rows(), direction = lines.direction();
    const double step = class_.time_step, inverse = class_.points - 1;
    adi::gather(cell.u, lines, batch, natural_order, -1, static_cast<int>(rows) + 1, points(), point_pitch);
    adi::gather(cell.r, lines, batch, natural_order, 0, static_cast<int>(rows), line + first_own_value,
                pitch);
    if (direction == 0)
      pentadiagonal::to_x_characteristics(rows, points() + point_pitch, line + first_own_value, pitch);
    pentadiagonal::set_points(rows + 2, direction, points());
    const int place = cell.subgrid.place[direction];
    pentadiagonal::eliminate(
        {step * inverse / 2, step * inverse * inverse, flow::viscosity[direction], step * flow::dissipation},
        rows, place == 0, place == cell.subgrid.parts[direction] - 1, points(), line);
  }

  void substitute(const adi::Lines& lines, double* line) override {
    pentadiagonal::substitute(lines.rows(), line);
  }

  // The solution in the last direction is the change of U.
  void finish(adi::Cell& cell, const adi::Lines& lines, std::size_t number, double* line) override {
    const adi::Batch batch = lines.batch(cell.u, number);
    const std::size_t rows = lines.rows(), direction = lines.direction();
    if (direction == 0) pentadiagonal::x_to_y_characteristics(rows, line + first_own_value, pitch);
    if (direction == 1) pentadiagonal::y_to_z_characteristics(rows, line + first_own_value, pitch);
    if (direction == 2) {
      adi::gather(cell.u, lines, batch, natural_order, 0, static_cast<int>(rows), points(), point_pitch);
      pentadiagonal::from_z_characteristics(rows, points(), line + first_own_value, pitch);
    }
    adi::scatter(direction == 2 ? cell.u : cell.r, lines, batch, natural_order, line + first_own_value, pitch,
                 direction == 2);
  }

  // Operation count of the NPB 3.4 sources.
  static double operations(double n) { return 881.174 * n * n * n - 4683.91 * n * n + 11484.5 * n - 19272.4; }

  static constexpr std::size_t natural_order[adi::components] = {0, 1, 2, 3, 4};
};

constexpr auto sp_parameters =
    adi::parameters("S|W|A|B|C|tiny", "12^3, 36^3, 64^3, 102^3, 162^3 or 9^3 points");

}  // namespace

extern constinit const WorkloadInfo sp = kernel_info(
    "sp", "SP of the NAS Parallel Benchmarks: implicit time steps of a flow, scalar pentadiagonal systems",
    sp_parameters, make<Sp>);

}  // namespace hockney::npb
