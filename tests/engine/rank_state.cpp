// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Each rank has separate state, even if all ranks are one process: prints what rank 0 has gathered, and a
// line for each rank when MPI_Finalize has destroyed its state.
#include "comm/rank_state.hpp"

#include <mpi.h>

#include <cstdio>
#include <vector>

namespace {

struct Counter {
  ~Counter() { std::printf("destroyed %d\n", count); }
  int count = 0;
};

struct Other {
  int count = -1;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  using hockney::RankState;
  for (int k = 0; k <= rank; ++k) {
    RankState<Counter>::get().count += 10;
    MPI_Barrier(MPI_COMM_WORLD);  // a simulator changes to another rank
    for (int other = k; k == rank && other + 1 < size; ++other) MPI_Barrier(MPI_COMM_WORLD);
  }
  const int state[] = {RankState<Counter>::get().count, RankState<Other>::get().count};
  std::vector<int> all(static_cast<std::size_t>(2 * size));
  MPI_Gather(state, 2, MPI_INT, all.data(), 2, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0)
    for (int r = 0; r < size; ++r)
      std::printf("rank %d: %d %d\n", r, all[static_cast<std::size_t>(2 * r)],
                  all[static_cast<std::size_t>(2 * r + 1)]);
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
