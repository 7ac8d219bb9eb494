// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// What a call costs that the preloaded library replaces: the same algorithm called directly and through
// MPI's name, in turns, in one launch.
//
//     mpiexec -n 2 -x LD_PRELOAD=libhockney-pmpi.so -x HOCKNEY_CHOICES=TABLE preload_cost OPERATION ALGORITHM
//     BYTES
//
// Prints the median time of a call in seconds, as long as the slowest rank needs for a loop of 64 calls after
// a barrier: of the algorithm, of MPI's name, of MPI's own function, and the median over pairs of loops of
// the difference between the first two.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "coll/algorithm.hpp"
#include "hockney/barrier.hpp"

namespace {

constexpr int loop = 64, loops = 4000;

template <class Operation>
auto* algorithm(const char* name) {
  for (const auto* each : Operation::table())
    if (std::strcmp(each->name, name) == 0) return each->call;
  std::fprintf(stderr, "no algorithm %s\n", name);
  std::exit(2);
}

double timed(const std::function<void()>& call) {
  MPI_Comm own = MPI_COMM_WORLD;
  PMPI_Barrier(own);
  const double start = MPI_Wtime();
  for (int k = 0; k < loop; ++k) call();
  return (MPI_Wtime() - start) / loop;
}

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string operation = argc > 1 ? argv[1] : "bcast";
  const char* const name = argc > 2 ? argv[2] : "binomial";
  const int bytes = argc > 3 ? std::atoi(argv[3]) : 8, doubles = bytes / 8;
  std::vector<char> out(static_cast<std::size_t>(bytes) * 16 + 8), in(out.size());
  char *const from = out.data(), *const to = in.data();
  MPI_Comm own;  // as the library has one
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &own);
  const MPI_Comm world = MPI_COMM_WORLD;
  std::function<void()> direct, preloaded, mpis;
  std::unique_ptr<hockney::Barrier> barrier;
  using namespace hockney;
  if (operation == "bcast") {
    auto* const call = algorithm<operation::bcast>(name);
    direct = [=] { call(to, bytes, MPI_BYTE, 0, own); };
    preloaded = [=] { MPI_Bcast(to, bytes, MPI_BYTE, 0, world); };
    mpis = [=] { PMPI_Bcast(to, bytes, MPI_BYTE, 0, world); };
  } else if (operation == "allreduce") {
    auto* const call = algorithm<operation::allreduce>(name);
    direct = [=] { call(from, to, doubles, MPI_DOUBLE, MPI_SUM, own); };
    preloaded = [=] { MPI_Allreduce(from, to, doubles, MPI_DOUBLE, MPI_SUM, world); };
    mpis = [=] { PMPI_Allreduce(from, to, doubles, MPI_DOUBLE, MPI_SUM, world); };
  } else if (operation == "allgather") {
    auto* const call = algorithm<operation::allgather>(name);
    direct = [=] { call(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, own); };
    preloaded = [=] { MPI_Allgather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, world); };
    mpis = [=] { PMPI_Allgather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, world); };
  } else if (operation == "barrier") {
    barrier = make_barrier(name, world);
    direct = [&] { barrier->wait(); };
    preloaded = [=] { MPI_Barrier(world); };
    mpis = [=] { PMPI_Barrier(world); };
  } else {
    std::fprintf(stderr, "no operation %s\n", operation.c_str());
    MPI_Abort(world, 2);
  }
  std::vector<double> times[3], differences;
  for (int i = -loops / 10; i < loops; ++i) {
    // The order changes, so that no one gains from what comes before it.
    double measured[3];
    for (int k = 0; k < 3; ++k) {
      const int which = (k + (i + loops)) % 3;
      measured[which] = timed(which == 0 ? direct : which == 1 ? preloaded : mpis);
    }
    PMPI_Allreduce(MPI_IN_PLACE, measured, 3, MPI_DOUBLE, MPI_MAX, world);
    if (i < 0) continue;
    for (int k = 0; k < 3; ++k) times[k].push_back(measured[k]);
    differences.push_back(measured[1] - measured[0]);
  }
  int rank = 0;
  MPI_Comm_rank(world, &rank);
  if (rank == 0)
    std::printf("%.9g %.9g %.9g %.9g\n", median(times[0]), median(times[1]), median(times[2]),
                median(differences));
  barrier.reset();
  MPI_Comm_free(&own);
  MPI_Finalize();
  return 0;
}
