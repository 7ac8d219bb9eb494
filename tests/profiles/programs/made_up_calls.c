/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Calls functions of made_up_mpi.c, and prints their results. */
#include <stdio.h>

#include "made_up_mpi.h"

static void added(const void* from, void* to, const int* count, const Handle* type) {
  int rank = -1;
  MPI_Comm_rank(WORLD, &rank);
  const double time = MPI_Wtime();
  for (int k = 0; k < *count; ++k) ((int*)to)[k] += ((const int*)from)[k] + rank;
  printf("added %d %g\n", (int)*type, time);
}

static void call_all(int n) {
  const int own = 100 + n, zero = 0, one = 1, tag = 7, world = WORLD, type = INT;
  int other = 3, rank = -1, error = -1, sum[2], status[8] = {0};
  Handle op = 0;
  printf("time %g\n", MPI_Wtime());
  printf("time %g\n", mpi_wtime_());
  printf("address %lx\n", (long)MPI_Aint_add((int64_t)1 << 40, n));
  printf("code %d\n", MPI_Accumulate(&own, 1, INT, 0, ((int64_t)1 << 40) + n, 1, INT, 78, 79));
  printf("code %d\n", MPI_Sendrecv(&own, 1, INT, 0, 7, &other, 1, INT, 0, 7, WORLD, status));
  printf("received %d %d %d\n", other, status[0], status[1]);
  other = 4;
  mpi_sendrecv_(&own, &one, &type, &zero, &tag, &other, &one, &type, &zero, &tag, &world, status, &error);
  printf("received %d %d %d %d\n", other, status[0], status[1], error);
  mpi_comm_set_name_(&world, "named, and more", &error, 5);
  printf("error %d\n", error);
  mpi_comm_rank_f08_(&world, &rank, NULL);
  printf("rank %d\n", rank);
  MPI_Op_create(added, 1, &op);
  printf("code %d\n", MPI_Allreduce((int[]){n, 2 * n}, sum, 2, INT, op, WORLD));
  printf("sum %d %d\n", sum[0], sum[1]);
  printf("blended %g\n",
         MPIX_Blend(0.5, n, 1.5, 1, 2.5, 2, 3.5, 3, 4.5, 4, 5.5, 5, 6.5, 6, 7.5, 7, 8.5, 8, 9.5, 9, 10, 11));
  const Large large = MPIX_Large(n);
  for (int k = 0; k < 5; ++k) printf("large %ld\n", (long)large.words[k]);
  MPI_Pcontrol(5, 0.25, 1L, 1.25, 2L, 2.25, 3L, 3.25, 4L, 4.25, 5L, 5.25, 6L, 6.25, 7L, 7.25, 8L, 8.25, 9L);
}

int main(int argc, char** argv) {
  call_all(-1); /* without sizes, as what types mean is not known yet */
  MPI_Init(&argc, &argv);
  for (int n = 0; n < 3; ++n) call_all(n);
  return MPI_Finalize();
}
