/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Functions for large counts, which MPI 4 has: every rank sends 1000 + 8 * 1000 + 24 bytes to the next one. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  static char out[8000], in[8000];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  const MPI_Count thousand = 1000;
  MPI_Request requests[2];
  MPI_Status status, statuses[2];
  MPI_Count count = -1;
  out[0] = (char)rank;
  if (rank % 2 == 0) MPI_Send_c(out, thousand, MPI_CHAR, right, 1, MPI_COMM_WORLD);
  MPI_Recv_c(in, thousand, MPI_CHAR, left, 1, MPI_COMM_WORLD, &status);
  if (rank % 2 == 1) MPI_Send_c(out, thousand, MPI_CHAR, right, 1, MPI_COMM_WORLD);
  MPI_Get_count_c(&status, MPI_CHAR, &count);
  MPI_Irecv_c(in, thousand, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend_c(out, thousand, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  MPI_Sendrecv_c(out, (MPI_Count)6, MPI_INT, right, 3, in, thousand, MPI_INT, left, 3, MPI_COMM_WORLD, &status);
  MPI_Bcast_c(out, thousand, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Count counts[16];
  MPI_Aint places[16];
  for (int k = 0; k < size; ++k) counts[k] = 4, places[k] = 4 * k;
  MPI_Allgatherv_c(out, (MPI_Count)4, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoallv_c(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
  MPI_Datatype type;
  MPI_Type_contiguous_c(thousand, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Type_size_c(type, &count);
  MPI_Type_free(&type);
  if (rank == 0) printf("size %lld\n", (long long)count);
  MPI_Finalize();
  return 0;
}
