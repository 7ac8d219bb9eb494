// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/solution.hpp"

#include <cmath>

namespace hockney::npb::flow {
namespace {

constexpr Five constants{2, 1, 2, 2, 5};
// The coefficients of t, t^2, t^3 and t^4 for each direction and component.
constexpr double coefficients[3][5][4] = {
    {{0, 5, .02, .5}, {0, 1, .01, .4}, {2, 0, .04, .3}, {2, 0, .03, .2}, {4, .1, .05, .1}},
    {{0, 3, .01, .4}, {0, 2, .03, .3}, {0, 2, .03, .5}, {0, 2, .05, .1}, {3, .4, .04, .3}},
    {{4, .5, .03, .3}, {0, 3, .02, .5}, {0, 3, .05, .4}, {0, 3, .04, .3}, {2, .3, .03, .2}},
};

Five term_at(std::size_t direction, double t) {
  Five term;
  for (std::size_t m = 0; m < 5; ++m) {
    const auto& c = coefficients[direction][m];
    term[m] = t * (c[0] + t * (c[1] + t * (c[2] + t * c[3])));
  }
  return term;
}

}  // namespace

Solution::Solution(const Subgrid& subgrid) : subgrid_(subgrid) {
  for (std::size_t d = 0; d < 3; ++d)
    for (int i = -ghost_layers; i < subgrid.size[d] + ghost_layers; ++i)
      terms_[d].push_back(term_at(d, (subgrid.origin[d] + i) * subgrid.spacing()));
}

Five Solution::at(int i, int j, int k) const {
  Five value;
  for (std::size_t m = 0; m < 5; ++m) value[m] = constants[m] + term(0, i)[m] + term(1, j)[m] + term(2, k)[m];
  return value;
}

template <class Values>
void Solution::set(Field& field, const Values& values) const {
  const Triple& size = subgrid_.size;
  for (int k = -ghost_layers; k < size[2] + ghost_layers; ++k)
    for (int j = -ghost_layers; j < size[1] + ghost_layers; ++j)
      for (int i = -ghost_layers; i < size[0] + ghost_layers; ++i) {
        if (!subgrid_.has(0, i) || !subgrid_.has(1, j) || !subgrid_.has(2, k)) continue;
        const Five value = values(i, j, k);
        for (int m = 0; m < 5; ++m) field.row(m, j, k)[i] = value[static_cast<std::size_t>(m)];
      }
}

void Solution::set_exact(Field& field) const {
  set(field, [this](int i, int j, int k) { return at(i, j, k); });
}

void Solution::set_initial(Field& field) const {
  std::array<Five, 3> ends;
  for (std::size_t d = 0; d < 3; ++d) ends[d] = term_at(d, 1);
  set(field, [&](int i, int j, int k) {
    const Triple local{i, j, k};
    const Five exact = at(i, j, k);
    Triple global;
    bool boundary = false;
    for (std::size_t d = 0; d < 3; ++d) {
      global[d] = subgrid_.origin[d] + local[d];
      boundary = boundary || global[d] == 0 || global[d] == subgrid_.points - 1;
    }
    if (boundary) return exact;
    Five value;
    for (std::size_t m = 0; m < 5; ++m) {
      // The term of each direction is linear between the exact values on its two faces, and 0 on the first
      // one.
      double p[3];
      for (std::size_t d = 0; d < 3; ++d)
        p[d] = exact[m] - term(d, local[d])[m] + global[d] * subgrid_.spacing() * ends[d][m];
      value[m] = p[0] + p[1] + p[2] - p[0] * p[1] - p[1] * p[2] - p[2] * p[0] + p[0] * p[1] * p[2];
    }
    return value;
  });
}

Five Solution::error_squares(const Field& field) const {
  Five sums{};
  for (int k = 0; k < subgrid_.size[2]; ++k)
    for (int j = 0; j < subgrid_.size[1]; ++j)
      for (int i = 0; i < subgrid_.size[0]; ++i) {
        const Five exact = at(i, j, k);
        for (int m = 0; m < 5; ++m) {
          const double error = field.row(m, j, k)[i] - exact[static_cast<std::size_t>(m)];
          sums[static_cast<std::size_t>(m)] += error * error;
        }
      }
  return sums;
}

Five squares(const Field& field, const Subgrid& subgrid) {
  Five sums{};
  for (int k = 0; k < subgrid.size[2]; ++k)
    for (int j = 0; j < subgrid.size[1]; ++j)
      for (int m = 0; m < 5; ++m) {
        const double* const row = field.row(m, j, k);
        double sum = 0;
        for (int i = 0; i < subgrid.size[0]; ++i) sum += row[i] * row[i];
        sums[static_cast<std::size_t>(m)] += sum;
      }
  return sums;
}

Five root_mean(const Comm& comm, Five sums, const Subgrid& subgrid) {
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 5, MPI_DOUBLE, MPI_SUM, comm.handle);
  return root_mean(sums, subgrid);
}

Five root_mean(const Five& total, const Subgrid& subgrid) {
  Five root;
  for (std::size_t m = 0; m < 5; ++m) root[m] = std::sqrt(total[m] / subgrid.interior());
  return root;
}

}  // namespace hockney::npb::flow
