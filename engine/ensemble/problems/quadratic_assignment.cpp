// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "hockney/annealing/quadratic_assignment.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "ensemble/problems/generating.hpp"
#include "ensemble/problems/shipped.hpp"

namespace hockney::annealing {
namespace {

std::vector<std::int32_t> transposed(const std::vector<std::int32_t>& matrix, std::size_t size) {
  std::vector<std::int32_t> result(matrix.size());
  for (std::size_t row = 0; row < size; ++row)
    for (std::size_t column = 0; column < size; ++column)
      result[column * size + row] = matrix[row * size + column];
  return result;
}

// The second word of a QAPLIB solution, such as "12 578" followed by the permutation.
double value_of(std::string_view solution) {
  std::istringstream words{std::string(solution)};
  double size = 0;
  double value = 0;
  words >> size >> value;
  return value;
}

}  // namespace

QuadraticAssignment::QuadraticAssignment(Instance instance, int size, std::vector<std::int32_t> flows,
                                         std::vector<std::int32_t> distances)
    : instance_{std::move(instance)},
      size_{size},
      flows_{std::move(flows)},
      distances_{std::move(distances)} {
  const std::size_t elements = index(size) * index(size);
  if (size < least_size || size > most_size || flows_.size() != elements || distances_.size() != elements)
    throw std::invalid_argument(
        "a quadratic assignment problem needs two matrices of one size from 2 to 5000");
  for (const Matrix* matrix : {&flows_, &distances_})
    if (*std::min_element(matrix->begin(), matrix->end()) < 0)
      throw std::invalid_argument("a quadratic assignment problem has a negative flow or distance");
  const double all_flows = std::accumulate(flows_.begin(), flows_.end(), 0.0);
  energy_bound_ = all_flows * *std::max_element(distances_.begin(), distances_.end());
  if (energy_bound_ > 0x1p53)
    throw std::invalid_argument("the energy of a quadratic assignment problem could exceed 2^53");
  flows_back_ = transposed(flows_, index(size));
  distances_back_ = transposed(distances_, index(size));
  symmetric_ = flows_back_ == flows_ && distances_back_ == distances_;
}

QuadraticAssignment QuadraticAssignment::load(const std::string& instance) {
  const OpenInstance open(instance, "dat", "QAPLIB");
  QuadraticAssignment problem = read_qaplib(open.in(), open.file());
  problem.instance_.name = open.name();
  if (const ShippedInstance* shipped_instance = open.shipped_instance()) {
    problem.instance_.source = "QAPLIB (Burkard, Karisch, Rendl 1997)";
    problem.instance_.optimum = value_of(shipped_instance->solution);
  }
  return problem;
}

QuadraticAssignment QuadraticAssignment::uniform(int size, std::uint64_t seed) {
  check_generated(size, least_size, most_size, "facilities");
  constexpr std::uint32_t values = 100;
  const std::size_t edge = index(size);
  Random random(seed, 0, instance_stream);
  std::vector<std::int32_t> matrices[2];
  for (std::vector<std::int32_t>& matrix : matrices) {
    matrix.resize(edge * edge);
    for (std::size_t row = 0; row < edge; ++row)
      for (std::size_t column = 0; column < row; ++column)
        matrix[row * edge + column] = matrix[column * edge + row] =
            static_cast<std::int32_t>(random.below(values));
  }
  return {{generated_name("qap", {size}, seed), "uniform elements", std::nullopt},
          size,
          std::move(matrices[0]),
          std::move(matrices[1])};
}

QuadraticAssignment::State QuadraticAssignment::initial(Random& random) const {
  return {random_permutation(size_, random)};
}

double QuadraticAssignment::energy(const State& state) const {
  std::int64_t sum = 0;
  for (std::int32_t i = 0; i < size_; ++i)
    for (std::int32_t k = 0; k < size_; ++k)
      sum += flow(i, k) * distance(state.location[index(i)], state.location[index(k)]);
  return static_cast<double>(sum);
}

}  // namespace hockney::annealing
