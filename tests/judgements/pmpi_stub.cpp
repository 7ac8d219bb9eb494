// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// An MPI that takes a known time for each collective, for benchmarks/pmpi_slowdown.cpp. Prints for each call
// by how much it lasted longer than that: the least of several tries, so that a busy machine changes nothing.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace {

using Clock = std::chrono::steady_clock;

double inside_s = 0;

double since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

int collective() {
  const auto began = Clock::now();
  while (since(began) < 2e-5) {
  }
  inside_s = since(began);
  return MPI_SUCCESS;
}

template <class Call>
void print(const char* name, int count, const Call& call) {
  double least = 1e9;
  for (int tries = 0; tries < 200; ++tries) {
    const auto began = Clock::now();
    call();
    least = std::min(least, since(began) / inside_s);
  }
  std::printf("%s %d %.3f\n", name, 8 * count, least);
}

}  // namespace

extern "C" {

int PMPI_Type_size(MPI_Datatype, int* size) {
  *size = 8;
  return MPI_SUCCESS;
}
int PMPI_Allreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) {
  return collective();
}
int PMPI_Reduce(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm) {
  return collective();
}
int PMPI_Scan(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) {
  return collective();
}
int PMPI_Bcast(void*, int, MPI_Datatype, int, MPI_Comm) {
  return collective();
}
int PMPI_Allgather(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm) {
  return collective();
}
int PMPI_Alltoall(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm) {
  return collective();
}

}  // extern "C"

int main() {
  for (const int count : {8, 128}) {
    print("Allreduce", count,
          [&] { MPI_Allreduce(nullptr, nullptr, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); });
    print("Reduce", count,
          [&] { MPI_Reduce(nullptr, nullptr, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); });
    print("Scan", count, [&] { MPI_Scan(nullptr, nullptr, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); });
    print("Bcast", count, [&] { MPI_Bcast(nullptr, count, MPI_DOUBLE, 0, MPI_COMM_WORLD); });
    print("Allgather", count,
          [&] { MPI_Allgather(nullptr, count, MPI_DOUBLE, nullptr, count, MPI_DOUBLE, MPI_COMM_WORLD); });
    print("Alltoall", count,
          [&] { MPI_Alltoall(nullptr, count, MPI_DOUBLE, nullptr, count, MPI_DOUBLE, MPI_COMM_WORLD); });
  }
}
