/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program that uses only a session, never MPI_Init; with an argument, after MPI_Finalize. Prints a sum over
 * all ranks. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char* argv[]) {
  if (argc > 1) {
    int sum = 0, one = 1;
    MPI_Init(&argc, &argv);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
  }
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  int rank = 0, one[100], sums[100];
  for (int k = 0; k < 100; ++k) one[k] = 1, sums[k] = 0;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "sums", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Allreduce(one, sums, 100, MPI_INT, MPI_SUM, comm);
  MPI_Bcast(sums, 100, MPI_INT, 0, comm);
  if (rank == 0) printf("%d\n", sums[99]);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return 0;
}
