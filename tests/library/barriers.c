/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program that does not know about hockney: MPI_Barrier in communicators that are made and freed, with
 * messages in flight. A rank that leaves a barrier early sees a count of another rank that lags behind. */
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int* counts;
static int rank, size;

static void episodes(MPI_Comm comm, const int* members, int others, int number) {
  for (int k = 0; k < number; ++k) {
    const int mine = atomic_fetch_add(&counts[rank], 1) + 1;
    MPI_Barrier(comm);
    for (int other = 0; other < others; ++other) {
      const int ahead = atomic_load(&counts[members[other]]) - mine;
      if (ahead < 0 || ahead > 1) {
        fprintf(stderr, "rank %d left before rank %d entered\n", rank, members[other]);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win window;
  void* memory;
  MPI_Win_allocate_shared(rank == 0 ? (MPI_Aint)sizeof(atomic_int) * size : 0, 1, MPI_INFO_NULL,
                          MPI_COMM_WORLD, &memory, &window);
  MPI_Aint bytes;
  int unit, everyone[64], got = -1;
  MPI_Win_shared_query(window, 0, &bytes, &unit, &memory);
  counts = memory;
  atomic_store(&counts[rank], 0);
  for (int k = 0; k < size; ++k) everyone[k] = k;
  MPI_Allreduce(MPI_IN_PLACE, &got, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD); /* all counts are 0 */
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  episodes(MPI_COMM_WORLD, everyone, size, 50);
  for (int k = 0; k < 3; ++k) {
    MPI_Comm copy, alone;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    episodes(copy, everyone, size, 10);
    MPI_Comm_free(&copy);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);
    MPI_Barrier(alone);
    MPI_Comm_free(&alone);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int refused = MPI_Barrier(MPI_COMM_NULL) != MPI_SUCCESS;
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  episodes(MPI_COMM_WORLD, everyone, size, 10);
  MPI_Win_free(&window);
  if (rank == 0) printf("fine %d %d\n", refused, got == size - 1);
  MPI_Finalize();
  return 0;
}
