// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/ssor/surface.hpp"

#include "npb/flow/equations.hpp"

namespace hockney::npb::ssor {

double surface_integral(const Comm& comm, const flow::Field& u, const flow::Subgrid& subgrid) {
  const int n = subgrid.points;
  const flow::Triple min_value{1, 1, 2}, max_key{n - 2, n - 3, n - 2};
  double sum = 0;
  for (int k = 0; k < subgrid.size[2]; ++k)
    for (int j = 0; j < subgrid.size[1]; ++j)
      for (int i = 0; i < subgrid.size[0]; ++i) {
        const flow::Triple local{i, j, k};
        // Whether the point is on a face, and the number of intervals between points of the box to which it
        // belongs.
        bool face[3];
        double intervals[3];
        for (std::size_t d = 0; d < 3; ++d) {
          const int at = subgrid.origin[d] + local[d];
          face[d] = at == min_value[d] || at == max_key[d];
          intervals[d] = at < min_value[d] || at > max_key[d] ? 0 : face[d] ? 1 : 2;
        }
        const double weight = (face[0] ? intervals[1] * intervals[2] : 0) +
                              (face[1] ? intervals[0] * intervals[2] : 0) +
                              (face[2] ? intervals[0] * intervals[1] : 0);
        if (weight == 0) continue;
        double q = 0;
        for (int m = 1; m <= 3; ++m) q += 0.5 * u.row(m, j, k)[i] * u.row(m, j, k)[i] / u.row(0, j, k)[i];
        sum += weight * flow::c2 * (u.row(4, j, k)[i] - q);
      }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm.handle);
  return 0.25 * subgrid.spacing() * subgrid.spacing() * sum;
}

}  // namespace hockney::npb::ssor
