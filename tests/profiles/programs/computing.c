/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each rank computes for 20 ms of processor time before a barrier, and sleeps for 50 ms after it. It prints its rank
 * and the processor time in seconds that it computed. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double cpu_time(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double begin = cpu_time();
  while (cpu_time() - begin < 0.02) {
  }
  const double computed = cpu_time() - begin;
  MPI_Barrier(MPI_COMM_WORLD);
  const struct timespec pause = {0, 50000000};
  nanosleep(&pause, NULL);
  printf("%d %.9f\n", rank, computed);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
