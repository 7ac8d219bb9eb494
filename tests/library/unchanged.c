/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program that does not know about hockney: every collective operation that the profiling interface replaces,
 * in MPI_COMM_WORLD, in parts of it and between two groups, with its own messages in flight. Prints a checksum
 * of each rank's results. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 5000 };

static unsigned long sum = 1469598103934665603ul;

static void add(const void *data, size_t bytes) {
  for (size_t k = 0; k < bytes; ++k) sum = (sum ^ ((const unsigned char *)data)[k]) * 1099511628211ul;
}

static void every_collective(MPI_Comm comm, int count) {
  static int out[16 * LONGEST], in[16 * LONGEST];
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int root = 0; root < size; root += size > 1 ? size - 1 : 1) {
    for (int k = 0; k < count * size; ++k) out[k] = 1000 * rank + k, in[k] = -1;
    MPI_Bcast(out, count, MPI_INT, root, comm);
    add(out, sizeof(int) * (size_t)count);
    MPI_Gather(out, count, MPI_INT, in, count, MPI_INT, root, comm);
    if (rank == root) add(in, sizeof(int) * (size_t)(count * size));
    MPI_Scatter(out, count, MPI_INT, in, count, MPI_INT, root, comm);
    add(in, sizeof(int) * (size_t)count);
    memset(in, 0, sizeof(int) * (size_t)count);
    MPI_Reduce(out, in, count, MPI_INT, MPI_MAX, root, comm);
    add(in, sizeof(int) * (size_t)count);
  }
  MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, comm);
  add(in, sizeof(int) * (size_t)(count * size));
  MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, comm);
  add(in, sizeof(int) * (size_t)(count * size));
  MPI_Allreduce(MPI_IN_PLACE, out, count, MPI_INT, MPI_SUM, comm);
  add(out, sizeof(int) * (size_t)count);
  MPI_Reduce_scatter_block(out, in, count / size, MPI_INT, MPI_SUM, comm);
  add(in, sizeof(int) * (size_t)(count / size));
  MPI_Scan(out, in, count, MPI_INT, MPI_SUM, comm);
  add(in, sizeof(int) * (size_t)count);
}

int main(int argc, char **argv) {
  int rank, size, got = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  MPI_Comm part, bridge, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
  const int counts[] = {0, 1, 7, 100, LONGEST};
  for (int k = 0; k < 5; ++k) {
    every_collective(MPI_COMM_WORLD, counts[k]);
    every_collective(part, counts[k]);
  }
  if (size > 1) {
    int one = rank, other = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &bridge);
    /* The first rank of a part is the highest one of MPI_COMM_WORLD. */
    const int remote = rank % 2 ? size - 1 - (size - 1) % 2 : size - 1 - size % 2;
    MPI_Intercomm_create(part, 0, bridge, remote, 3, &both);
    MPI_Allreduce(&one, &other, 1, MPI_INT, MPI_SUM, both);
    add(&other, sizeof other);
    MPI_Comm_free(&both);
    MPI_Comm_free(&bridge);
  }
  MPI_Comm_free(&part);
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  add(&got, sizeof got);
  unsigned long *sums = malloc(sizeof(unsigned long) * (size_t)size);
  MPI_Gather(&sum, 1, MPI_UNSIGNED_LONG, sums, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
  for (int k = 0; rank == 0 && k < size; ++k) printf("%d %016lx\n", k, sums[k]);
  free(sums);
  MPI_Finalize();
  return 0;
}
