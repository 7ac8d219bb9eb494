/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Prints for each operation the sizes (bytes of a rank's block or vector, from the arguments) at which MPI
 * returns an error, as it does if its rules select an algorithm that does not exist. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int called(int which, char *out, char *in, int bytes) {
  const int numbers = bytes / (int)sizeof(double);
  switch (which) {
    case 0: return MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    case 1: return MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    case 2: return MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    case 3: return MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    case 4: return MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    case 5: return MPI_Reduce(out, in, numbers, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    case 6: return MPI_Allreduce(out, in, numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    default: return MPI_Reduce_scatter_block(out, in, numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv) {
  static const char *names[] = {"bcast",    "gather", "scatter",   "allgather",
                                "alltoall", "reduce", "allreduce", "reduce_scatter_block"};
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  char *const out = calloc(1 << 20, 1), *const in = calloc(1 << 20, 1);
  for (int which = 0; which < 8; ++which) {
    if (rank == 0) printf("%s", names[which]);
    for (int k = 1; k < argc; ++k) {
      const int bytes = atoi(argv[k]);
      const int failed = called(which, out, in, bytes) != MPI_SUCCESS;
      if (rank == 0 && failed) printf(" %d", bytes);
    }
    if (rank == 0) printf("\n");
  }
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
