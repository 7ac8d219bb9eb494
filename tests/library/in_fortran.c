/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>

int in_fortran(MPI_Fint comm, MPI_Fint integers, MPI_Fint sum, int rank, int ranks);

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int fine = in_fortran(MPI_Comm_c2f(MPI_COMM_WORLD), MPI_Type_c2f(MPI_INT), MPI_Op_c2f(MPI_SUM), rank, size);
  MPI_Allreduce(MPI_IN_PLACE, &fine, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) puts(fine ? "fine" : "wrong");
  MPI_Finalize();
  return 0;
}
