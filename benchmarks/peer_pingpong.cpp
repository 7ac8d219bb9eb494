// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// The peer: a ping-pong with nothing around it. Prints the mean one-way time over the loop, in seconds.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int bytes = argc > 1 ? std::atoi(argv[1]) : 8;
  const int iterations = argc > 2 ? std::atoi(argv[2]) : 10000;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<char> out(static_cast<std::size_t>(bytes) + 1, 'x');
  std::vector<char> in(out);
  const auto round_trips = [&](int count) {
    for (int i = 0; i < count; ++i) {
      if (rank == 0) {
        MPI_Send(out.data(), bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(in.data(), bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        MPI_Recv(in.data(), bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out.data(), bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
      }
    }
  };
  round_trips(iterations / 10 + 1);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  round_trips(iterations);
  const double time = (MPI_Wtime() - start) / iterations / 2;
  if (rank == 0) std::printf("%.9g\n", time);
  MPI_Finalize();
  return 0;
}
