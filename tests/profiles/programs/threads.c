/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 *     threads LONG SHORT
 *
 * With MPI_THREAD_MULTIPLE: four threads of each rank exchange LONG messages each, in every communicator its own
 * thread, then SHORT threads start one after the other, each of which calls MPI three times. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4 };
static int rank, size, turns;
static MPI_Comm on[THREADS];
static long sums[THREADS];

static void* exchanges(void* number) {
  const int own = (int)(long)number, right = (rank + 1) % size, left = (rank + size - 1) % size;
  int out[8], in[8];
  for (int k = 0; k < turns; ++k) {
    MPI_Request requests[2];
    const int count = 1 + (k + own) % 8;
    for (int i = 0; i < 8; ++i) out[i] = rank + k + i;
    MPI_Irecv(in, 8, MPI_INT, k % 3 ? left : MPI_ANY_SOURCE, 1, on[own], &requests[0]);
    MPI_Isend(out, count, MPI_INT, right, 1, on[own], &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; ++i) sums[own] += in[i] * (own + 1);
    MPI_Allreduce(&k, in, 1, MPI_INT, MPI_SUM, on[own]);
    sums[own] += in[0];
    if (k % 16 == 0) {
      MPI_Comm another;
      MPI_Comm_dup(on[own], &another);
      MPI_Barrier(another);
      MPI_Comm_free(&another);
    }
  }
  return NULL;
}

static void* brief(void* number) {
  int me = 0, in = 0;
  (void)number;
  MPI_Comm_rank(MPI_COMM_SELF, &me);
  MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_SELF);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  pthread_t threads[THREADS];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  turns = atoi(argv[1]);
  for (int k = 0; k < THREADS; ++k) MPI_Comm_dup(MPI_COMM_WORLD, &on[k]);
  for (int k = 0; k < THREADS; ++k) pthread_create(&threads[k], NULL, exchanges, (void*)(long)k);
  for (int k = 0; k < THREADS; ++k) pthread_join(threads[k], NULL);
  for (int k = 0; k < THREADS; ++k) MPI_Comm_free(&on[k]);
  for (int k = 0; k < atoi(argv[2]); ++k) {
    pthread_create(&threads[0], NULL, brief, NULL);
    pthread_join(threads[0], NULL);
  }
  long sum = 0, all = 0;
  for (int k = 0; k < THREADS; ++k) sum += sums[k];
  MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %ld\n", all);
  MPI_Finalize();
  return 0;
}
