// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// The peer: loops around MPI calls with nothing else in them.
//
//     peer_loops OPERATION BYTES CALLS
//
// Prints a time in seconds. For pingpong: of a message one way, the mean of all. Otherwise: of a call, in
// loops of 64 calls after a barrier, as long as the slowest rank needs for a loop; the median of all loops.
// For written: of a message one way, the median of round trips before each of which both ranks write every
// byte that they will send, read every byte that they received, and meet in a barrier. BYTES is the size of a
// vector or block, as in the engine's cases; buffers are page-aligned, because alignment changes a copy's
// speed.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int loop = 64;
constexpr std::size_t page = 4096;

char* buffer(std::size_t bytes) {
  const std::size_t pages = bytes / page + 1;
  auto* const memory = static_cast<char*>(std::aligned_alloc(page, pages * page));
  std::memset(memory, 0, pages * page);
  return memory;
}

inline void round_trip(int rank, char* out, char* in, int bytes) {
  if (rank == 0) {
    MPI_Send(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(in, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }
}

double pingpong(int rank, char* out, char* in, int bytes, int calls) {
  const auto round_trips = [&](int count) {
    for (int i = 0; i < count; ++i) round_trip(rank, out, in, bytes);
  };
  round_trips(calls / 10 + 1);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  round_trips(calls);
  return (MPI_Wtime() - start) / calls / 2;
}

double written(int rank, char* out, char* in, int bytes, int calls) {
  std::vector<double> times;
  unsigned long read = 0;
  for (int i = -calls / 10 - 1; i < calls; ++i) {
    for (int k = 0; k < bytes; ++k) read += static_cast<unsigned char>(in[k]);
    std::memset(out, i & 0x7F, static_cast<std::size_t>(bytes));
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    round_trip(rank, out, in, bytes);
    if (i >= 0) times.push_back((MPI_Wtime() - start) / 2);
  }
  if (read == 1) std::fputs("\n", stderr);  // so that the bytes are read
  const auto middle = times.begin() + calls / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

template <class Call>
double collective(int calls, Call call) {
  std::vector<double> times;
  const int loops = calls / loop + 1;
  for (int i = -loops / 10 - 1; i < loops; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int k = 0; k < loop; ++k) call();
    const double time = MPI_Wtime() - start;
    if (i >= 0) times.push_back(time / loop);
  }
  MPI_Allreduce(MPI_IN_PLACE, times.data(), loops, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const auto middle = times.begin() + loops / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string operation = argc > 1 ? argv[1] : "pingpong";
  const int bytes = argc > 2 ? std::atoi(argv[2]) : 8;
  const int calls = argc > 3 ? std::atoi(argv[3]) : 10000;
  const int count = bytes / static_cast<int>(sizeof(double));
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::size_t all = static_cast<std::size_t>(bytes) * static_cast<std::size_t>(size);
  char* const out = buffer(all);
  char* const in = buffer(all);
  const MPI_Comm world = MPI_COMM_WORLD;

  const auto of = [&](auto call) { return [=] { return collective(calls, call); }; };
  const std::map<std::string, std::function<double()>> loops{
      {"pingpong", [=] { return pingpong(rank, out, in, bytes, calls); }},
      {"written", [=] { return written(rank, out, in, bytes, calls); }},
      {"bcast", of([=] { MPI_Bcast(in, bytes, MPI_BYTE, 0, world); })},
      {"gather", of([=] { MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, world); })},
      {"scatter", of([=] { MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, world); })},
      {"allgather", of([=] { MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, world); })},
      {"alltoall", of([=] { MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, world); })},
      {"reduce", of([=] { MPI_Reduce(out, in, count, MPI_DOUBLE, MPI_SUM, 0, world); })},
      {"allreduce", of([=] { MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, world); })},
      {"reduce_scatter_block",
       of([=] { MPI_Reduce_scatter_block(out, in, count, MPI_DOUBLE, MPI_SUM, world); })},
      {"scan", of([=] { MPI_Scan(out, in, count, MPI_DOUBLE, MPI_SUM, world); })},
  };
  const auto found = loops.find(operation);
  if (found == loops.end()) {
    std::fprintf(stderr, "no loop for %s\n", operation.c_str());
    MPI_Abort(world, 2);
  }
  const double time = found->second();
  if (rank == 0) std::printf("%.9g\n", time);
  MPI_Finalize();
  return 0;
}
