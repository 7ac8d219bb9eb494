/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The library in C. Prints "fine" and the barriers that this communicator has. */
#include <hockney/barrier.h>
#include <hockney/coll.h>
#include <stdio.h>
#include <string.h>

#define HOLDS(condition)                                      \
  do {                                                        \
    if (!(condition)) {                                       \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                           \
    }                                                         \
  } while (0)

static int class_of(int error) {
  int class;
  MPI_Error_class(error, &class);
  return class;
}

int main(int argc, char** argv) {
  enum { COUNT = 3 };
  int rank, size;
  MPI_Init(&argc, &argv);
  const MPI_Comm comm = MPI_COMM_WORLD;
  const MPI_Fint world = MPI_Comm_c2f(comm), integer = MPI_Type_c2f(MPI_INT), sum = MPI_Op_c2f(MPI_SUM);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);

  hockney_barrier* barrier = NULL;
  HOLDS(hockney_best_barrier(comm, &barrier) == MPI_SUCCESS);
  HOLDS(strstr(hockney_barrier_names(), hockney_barrier_name(barrier)) != NULL);
  hockney_barrier_wait(barrier);
  hockney_barrier_free(&barrier);
  HOLDS(barrier == NULL);
  hockney_barrier_free(&barrier);
  HOLDS(class_of(hockney_make_barrier("nothing", comm, &barrier)) == MPI_ERR_ARG && barrier == NULL);
  HOLDS(class_of(hockney_make_barrier("shm_tree", MPI_COMM_NULL, &barrier)) == MPI_ERR_COMM && !barrier);
  HOLDS(class_of(hockney_best_barrier(MPI_COMM_NULL, &barrier)) == MPI_ERR_COMM && barrier == NULL);
  int made = 0;
  char names[2000];
  snprintf(names, sizeof names, "%s", hockney_barrier_names());
  for (char* name = strtok(names, "|"); name; name = strtok(NULL, "|")) {
    const int error = hockney_make_barrier_f(name, world, &barrier);
    if (error == MPI_SUCCESS) {
      HOLDS(strcmp(hockney_barrier_name(barrier), name) == 0);
      for (int k = 0; k < 5; ++k) hockney_barrier_wait(barrier);
      hockney_barrier_free(&barrier);
      ++made;
    } else {
      HOLDS(class_of(error) == MPI_ERR_UNSUPPORTED_OPERATION);
    }
  }

  int out[16 * COUNT], in[16 * COUNT], expected[16 * COUNT];
  for (int k = 0; k < 16 * COUNT; ++k) out[k] = 100 * rank + k;
#define SAME(OURS, ITS, NUMBER)                               \
  do {                                                        \
    memset(in, -1, sizeof in);                                \
    memset(expected, -1, sizeof expected);                    \
    HOLDS((OURS) == MPI_SUCCESS && (ITS) == MPI_SUCCESS);     \
    HOLDS(memcmp(in, expected, sizeof(int) * (NUMBER)) == 0); \
  } while (0)
#define GATHER(NAME, ...) NAME(out, COUNT, MPI_INT, __VA_ARGS__)
  SAME(hockney_allreduce(out, in, COUNT, MPI_INT, MPI_SUM, comm, "ring"),
       MPI_Allreduce(out, expected, COUNT, MPI_INT, MPI_SUM, comm), COUNT);
  SAME(hockney_allreduce_f(out, in, COUNT, integer, sum, world, "recursive_doubling"),
       MPI_Allreduce(out, expected, COUNT, MPI_INT, MPI_SUM, comm), COUNT);
  SAME(hockney_allgather(out, COUNT, MPI_INT, in, COUNT, MPI_INT, comm, "ring"),
       MPI_Allgather(out, COUNT, MPI_INT, expected, COUNT, MPI_INT, comm), COUNT * size);
  SAME(hockney_allgather_f(out, COUNT, integer, in, COUNT, integer, world, NULL),
       MPI_Allgather(out, COUNT, MPI_INT, expected, COUNT, MPI_INT, comm), COUNT * size);
  SAME(hockney_alltoall(out, COUNT, MPI_INT, in, COUNT, MPI_INT, comm, "mpi"),
       MPI_Alltoall(out, COUNT, MPI_INT, expected, COUNT, MPI_INT, comm), COUNT * size);
  SAME(hockney_alltoall_f(out, COUNT, integer, in, COUNT, integer, world, NULL),
       MPI_Alltoall(out, COUNT, MPI_INT, expected, COUNT, MPI_INT, comm), COUNT * size);
  SAME(hockney_gather(out, COUNT, MPI_INT, in, COUNT, MPI_INT, size - 1, comm, "binomial"),
       MPI_Gather(out, COUNT, MPI_INT, expected, COUNT, MPI_INT, size - 1, comm),
       rank == size - 1 ? COUNT * size : 0);
  SAME(hockney_gather_f(out, COUNT, integer, in, COUNT, integer, 0, world, NULL),
       MPI_Gather(out, COUNT, MPI_INT, expected, COUNT, MPI_INT, 0, comm), rank == 0 ? COUNT * size : 0);
  SAME(hockney_scatter(out, COUNT, MPI_INT, in, COUNT, MPI_INT, size - 1, comm, "binomial"),
       MPI_Scatter(out, COUNT, MPI_INT, expected, COUNT, MPI_INT, size - 1, comm), COUNT);
  SAME(hockney_scatter_f(out, COUNT, integer, in, COUNT, integer, 0, world, NULL),
       MPI_Scatter(out, COUNT, MPI_INT, expected, COUNT, MPI_INT, 0, comm), COUNT);
  SAME(hockney_reduce(out, in, COUNT, MPI_INT, MPI_MAX, 0, comm, "binomial"),
       MPI_Reduce(out, expected, COUNT, MPI_INT, MPI_MAX, 0, comm), rank == 0 ? COUNT : 0);
  SAME(hockney_reduce_f(out, in, COUNT, integer, sum, size - 1, world, NULL),
       MPI_Reduce(out, expected, COUNT, MPI_INT, MPI_SUM, size - 1, comm), rank == size - 1 ? COUNT : 0);
  SAME(hockney_reduce_scatter_block(out, in, COUNT, MPI_INT, MPI_SUM, comm, "mpi"),
       MPI_Reduce_scatter_block(out, expected, COUNT, MPI_INT, MPI_SUM, comm), COUNT);
  SAME(hockney_reduce_scatter_block_f(out, in, COUNT, integer, sum, world, NULL),
       MPI_Reduce_scatter_block(out, expected, COUNT, MPI_INT, MPI_SUM, comm), COUNT);
  SAME(hockney_scan(out, in, COUNT, MPI_INT, MPI_SUM, comm, "mpi"),
       MPI_Scan(out, expected, COUNT, MPI_INT, MPI_SUM, comm), COUNT);
  SAME(hockney_scan_f(out, in, COUNT, integer, sum, world, NULL),
       MPI_Scan(out, expected, COUNT, MPI_INT, MPI_SUM, comm), COUNT);
  memcpy(in, out, sizeof in);
  HOLDS(hockney_bcast(in, COUNT, MPI_INT, size - 1, comm, "binomial") == MPI_SUCCESS);
  HOLDS(in[1] == 100 * (size - 1) + 1);
  HOLDS(hockney_bcast_f(in, COUNT, integer, 0, world, "chain") == MPI_SUCCESS);
  HOLDS(in[0] == 100 * (size - 1));
  HOLDS(class_of(hockney_bcast(in, COUNT, MPI_INT, 0, comm, "nothing")) == MPI_ERR_ARG);
  HOLDS(class_of(hockney_bcast(in, COUNT, MPI_INT, size, comm, "chain")) == MPI_ERR_ROOT);
  if (rank == 0) printf("fine %d\n", made);
  MPI_Finalize();
  return 0;
}
