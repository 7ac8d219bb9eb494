// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// The sum of a vector over all ranks: by each algorithm, by MPI, and by the choice of the table in
// HOCKNEY_CHOICES.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <hockney/coll.hpp>
#include <hockney/coll_span.hpp>
#include <span>
#include <string>
#include <vector>

namespace {

constexpr int times = 50;

// Seconds of the slowest rank for a call: the median of several.
template <class Call>
double seconds_of(Call call) {
  std::vector<double> found;
  for (int k = 0; k < times; ++k) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    call();
    double seconds = MPI_Wtime() - start;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    found.push_back(seconds);
  }
  std::nth_element(found.begin(), found.begin() + times / 2, found.end());
  return found[times / 2];
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  const std::vector<double> own(10'000, rank + 1.0);
  std::vector<double> sums(own.size());
  const auto bytes = static_cast<std::int64_t>(own.size() * sizeof(double));
  auto sum_by = [&](const hockney::coll::Choice& choice) {
    return seconds_of(
        [&] { hockney::coll::allreduce(std::span(own), std::span(sums), MPI_SUM, MPI_COMM_WORLD, choice); });
  };

  std::vector<std::string> algorithms = hockney::coll::algorithm_names("allreduce");
  algorithms.insert(algorithms.begin(), "mpi");
  for (const std::string& algorithm : algorithms) {
    const double seconds = sum_by(algorithm);
    if (rank == 0) std::printf("%-20s %9.3f us\n", algorithm.c_str(), seconds * 1e6);
  }
  const double seconds = sum_by({});
  if (rank == 0) {
    const std::string chosen(hockney::coll::environment_table().choice("allreduce", size, bytes));
    std::printf("%-20s %9.3f us, by the table: %s\n", "", seconds * 1e6, chosen.c_str());
  }
  const bool right = sums == std::vector<double>(own.size(), size * (size + 1) / 2.0);
  MPI_Finalize();
  return right ? 0 : 1;
}
