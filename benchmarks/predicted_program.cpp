// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0

// A program whose imbalance and noise are known: predicted_program PATTERN STEPS BYTES WORK_US [DELAY_US [NOISE_US]].
// Each step computes for WORK_US and communicates as PATTERN says. DELAY_US is more computation of rank 0 in
// each step, NOISE_US more computation of each rank in one step of twenty, not the same for all ranks.

#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void compute(double microseconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double, std::micro>(microseconds);
  while (Clock::now() < end) {
  }
}

struct Program {
  int rank = 0, ranks = 1, bytes = 0;
  std::vector<char> out, in;

  void communicate(const std::string& pattern, int step) {
    const auto count = bytes / static_cast<int>(sizeof(double));
    if (pattern == "halo") {
      halo();
      if (step % 10 == 9) {
        reduce(1);
      }
    } else if (pattern == "allreduce") {
      reduce(count);
    } else if (pattern == "bcast") {
      MPI_Bcast(out.data(), bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    } else if (pattern == "alltoall") {
      MPI_Alltoall(out.data(), bytes, MPI_CHAR, in.data(), bytes, MPI_CHAR, MPI_COMM_WORLD);
    } else if (pattern == "barrier") {
      MPI_Barrier(MPI_COMM_WORLD);
    } else {
      std::fprintf(stderr, "no pattern %s\n", pattern.c_str());
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }

  void reduce(int count) {
    MPI_Allreduce(out.data(), in.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }

  void halo() {
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Request requests[4];
    MPI_Irecv(in.data(), bytes, MPI_CHAR, left, 0, MPI_COMM_WORLD, requests);
    MPI_Irecv(in.data() + bytes, bytes, MPI_CHAR, right, 1, MPI_COMM_WORLD, requests + 1);
    MPI_Isend(out.data(), bytes, MPI_CHAR, right, 0, MPI_COMM_WORLD, requests + 2);
    MPI_Isend(out.data(), bytes, MPI_CHAR, left, 1, MPI_COMM_WORLD, requests + 3);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 5) {
    std::fprintf(stderr, "usage: %s PATTERN STEPS BYTES WORK_US [DELAY_US [NOISE_US]]\n", argv[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int steps = std::atoi(argv[2]);
  const double work = std::atof(argv[4]), delay = argc > 5 ? std::atof(argv[5]) : 0.0,
               noise = argc > 6 ? std::atof(argv[6]) : 0.0;
  Program program;
  MPI_Comm_rank(MPI_COMM_WORLD, &program.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &program.ranks);
  program.bytes = std::atoi(argv[3]);
  const std::size_t room = static_cast<std::size_t>(program.bytes) * (program.ranks + 1) + sizeof(double);
  program.out.resize(room);
  program.in.resize(room);
  for (int step = 0; step < steps; ++step) {
    const bool disturbed = (step * 7 + program.rank * 3) % 20 == 0;
    compute(work + (program.rank == 0 ? delay : 0.0) + (disturbed ? noise : 0.0));
    program.communicate(argv[1], step);
  }
  MPI_Finalize();
  return 0;
}
