/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Messages between pairs of ranks in every mode, on at least 2 ranks. Every rank prints a checksum of what it got. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4096 };
static int rank, size, left, right;
static unsigned sum = 1;

static void got(const void* bytes, int length) {
  const unsigned char* each = bytes;
  for (int k = 0; k < length; ++k) sum = sum * 31 + each[k];
}

static void got_status(const MPI_Status* status) {
  int count = -1;
  MPI_Get_count(status, MPI_INT, &count);
  const int all[] = {status->MPI_SOURCE, status->MPI_TAG, count};
  got(all, sizeof all);
}

static void blocking(void) {
  int out[16], in[64];
  MPI_Status status;
  for (int k = 0; k < 16; ++k) out[k] = rank * 100 + k;
  int room = 0;
  MPI_Pack_size(16, MPI_INT, MPI_COMM_WORLD, &room);
  void* const buffer = malloc(4 * (room + MPI_BSEND_OVERHEAD));
  MPI_Buffer_attach(buffer, 4 * (room + MPI_BSEND_OVERHEAD));
  for (int turn = 0; turn < 2; ++turn) {
    if (rank % 2 == turn) {
      if (rank + 1 < size) {
        MPI_Send(out, 3, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
        MPI_Ssend(out, 4, MPI_INT, rank + 1, 2, MPI_COMM_WORLD);
        MPI_Bsend(out, 5, MPI_INT, rank + 1, 3, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_INT, rank + 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Rsend(out, 6, MPI_INT, rank + 1, 4, MPI_COMM_WORLD);
      }
    } else if (rank > 0) {
      MPI_Request ready;
      MPI_Recv(in, 64, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, &status);
      got_status(&status);
      MPI_Recv(in, 64, MPI_INT, rank - 1, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      got_status(&status);
      MPI_Recv(in, 64, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
      got_status(&status);
      MPI_Irecv(in + 16, 6, MPI_INT, rank - 1, 4, MPI_COMM_WORLD, &ready);
      MPI_Send(NULL, 0, MPI_INT, rank - 1, 9, MPI_COMM_WORLD);
      MPI_Wait(&ready, &status);
      got_status(&status);
      got(in, 5 * sizeof *in);
      got(in + 16, 6 * sizeof *in);
    }
  }
  int bytes = 0;
  void* detached = NULL;
  MPI_Buffer_detach(&detached, &bytes);
  free(detached);
}

static void both_ways(void) {
  int out[8] = {rank}, in[8] = {0};
  MPI_Status status;
  for (int k = 0; k < 5; ++k) {
    MPI_Sendrecv(out, 8 - k, MPI_INT, right, 5, in, 8, MPI_INT, left, 5, MPI_COMM_WORLD, &status);
    got_status(&status);
    MPI_Sendrecv(out, 2, MPI_INT, right, 6, in, 8, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    got_status(&status);
    MPI_Sendrecv_replace(out, 8, MPI_INT, right, 7, left, 7, MPI_COMM_WORLD, &status);
    got(out, sizeof out);
    MPI_Sendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 7, in, 8, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
#if MPI_VERSION >= 4 || defined(OPEN_MPI)
  for (int k = 0; k < 3; ++k) {
    MPI_Request request;
    MPI_Isendrecv(out, 3, MPI_INT, right, 8, in, 8, MPI_INT, left, 8, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    got(in, 3 * sizeof *in);
    MPI_Isendrecv_replace(out, 8, MPI_INT, right, 9, left, 9, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    got(out, sizeof out);
  }
#endif
}

/* Completed in every way, among inactive and null requests. */
static void nonblocking(void) {
  enum { MANY = 24 };
  static int out[MANY], in[MANY];
  MPI_Request requests[2 * MANY + 2];
  MPI_Status statuses[2 * MANY + 2], status;
  int indices[2 * MANY + 2], index = 0, flag = 0, count = 0;
  for (int way = 0; way < 9; ++way) {
    requests[2 * MANY] = MPI_REQUEST_NULL;
    MPI_Send_init(out, 1, MPI_INT, right, 99, MPI_COMM_WORLD, &requests[2 * MANY + 1]);
    for (int k = 0; k < MANY; ++k) {
      out[k] = rank * 1000 + way * MANY + k;
      in[k] = -1;
      MPI_Irecv(&in[k], 1, MPI_INT, left, 100 + k % 3, MPI_COMM_WORLD, &requests[k]);
    }
    for (int k = 0; k < MANY; ++k) {
      if (k % 4 == 3) MPI_Issend(&out[k], 1, MPI_INT, right, 100 + k % 3, MPI_COMM_WORLD, &requests[MANY + k]);
      else MPI_Isend(&out[k], 1, MPI_INT, right, 100 + k % 3, MPI_COMM_WORLD, &requests[MANY + k]);
    }
    if (way == 0) MPI_Waitall(2 * MANY + 2, requests, statuses);
    if (way == 1) MPI_Waitall(2 * MANY + 2, requests, MPI_STATUSES_IGNORE);
    if (way == 2)
      for (int k = 2 * MANY - 1; k >= 0; --k) MPI_Wait(&requests[k], k % 2 ? &status : MPI_STATUS_IGNORE);
    if (way == 3) {
      do MPI_Waitany(2 * MANY + 2, requests, &index, &status);
      while (index != MPI_UNDEFINED);
    }
    if (way == 4) {
      do MPI_Waitsome(2 * MANY + 2, requests, &count, indices, statuses);
      while (count != MPI_UNDEFINED);
    }
    if (way == 5) {
      do MPI_Testall(2 * MANY + 2, requests, &flag, statuses);
      while (!flag);
    }
    if (way == 6) {
      do MPI_Testany(2 * MANY + 2, requests, &index, &flag, &status);
      while (!flag || index != MPI_UNDEFINED);
    }
    if (way == 7) {
      do MPI_Testsome(2 * MANY + 2, requests, &count, indices, MPI_STATUSES_IGNORE);
      while (count != MPI_UNDEFINED);
    }
    if (way == 8)
      for (int k = 0; k < 2 * MANY; ++k) {
        do MPI_Request_get_status(requests[k], &flag, &status);
        while (!flag);
        do MPI_Test(&requests[k], &flag, &status);
        while (!flag);
      }
    for (int k = 0; k < 2 * MANY; ++k)
      if (requests[k] != MPI_REQUEST_NULL) sum = 0;
    MPI_Wait(&requests[2 * MANY], &status);
    MPI_Wait(&requests[2 * MANY + 1], &status);
    MPI_Test(&requests[2 * MANY + 1], &flag, MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[2 * MANY + 1]);
    got(in, sizeof in);
  }
  MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
  MPI_Waitany(0, NULL, &index, &status);
  MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE);
}

static void persistent(void) {
  int out[5] = {0}, in[5] = {0};
  MPI_Request requests[5];
  MPI_Status statuses[5];
  MPI_Send_init(&out[0], 1, MPI_INT, right, 20, MPI_COMM_WORLD, &requests[0]);
  MPI_Ssend_init(&out[1], 1, MPI_INT, right, 21, MPI_COMM_WORLD, &requests[1]);
  MPI_Recv_init(&in[0], 1, MPI_INT, left, 20, MPI_COMM_WORLD, &requests[2]);
  MPI_Recv_init(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 21, MPI_COMM_WORLD, &requests[3]);
  MPI_Recv_init(&in[2], 1, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[4]);
  for (int k = 0; k < 6; ++k) {
    out[0] = out[1] = out[2] = 50 * k + rank;
    MPI_Startall(4, requests);
    MPI_Waitall(4, requests, k % 2 ? statuses : MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Start(&requests[4]);
    MPI_Send(out, 1, MPI_INT, right, 22, MPI_COMM_WORLD);
    MPI_Wait(&requests[4], &statuses[4]);
    got(in, sizeof in);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int k = 0; k < 5; ++k) MPI_Request_free(&requests[k]);
  /* Freed while it is active. */
  MPI_Request request;
  MPI_Isend(out, 1, MPI_INT, right, 23, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  MPI_Recv(in, 1, MPI_INT, left, 23, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  got(in, sizeof *in);
}

static void partitioned(void) {
#if MPI_VERSION >= 4 || defined(OPEN_MPI)
  enum { PARTS = 4, EACH = 8 };
  static int out[PARTS * EACH], in[PARTS * EACH];
  MPI_Request requests[2];
  MPI_Psend_init(out, PARTS, EACH, MPI_INT, right, 30, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(in, PARTS, EACH, MPI_INT, left, 30, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  for (int turn = 0; turn < 3; ++turn) {
    int other = -1;
    for (int k = 0; k < PARTS * EACH; ++k) out[k] = turn + k + rank;
    /* A message with the same tag, between the starts here and after both there. */
    MPI_Start(&requests[0]);
    MPI_Send(&rank, 1, MPI_INT, right, 30, MPI_COMM_WORLD);
    MPI_Recv(&other, 1, MPI_INT, left, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Start(&requests[1]);
    MPI_Pready(0, requests[0]);
    MPI_Pready_range(1, 2, requests[0]);
    int last[] = {3};
    MPI_Pready_list(1, last, requests[0]);
    int flag = 0;
    while (!flag) MPI_Parrived(requests[1], 2, &flag);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    got(in, sizeof in);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
#endif
}

static void probed(void) {
  int in[64];
  MPI_Status status;
  MPI_Message message;
  MPI_Request requests[3], received;
  for (int k = 0; k < 3; ++k) MPI_Isend(&rank, 1, MPI_INT, right, 40 + k, MPI_COMM_WORLD, &requests[k]);
  MPI_Probe(left, 40, MPI_COMM_WORLD, &status);
  MPI_Recv(in, 64, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
  got_status(&status);
  MPI_Mprobe(MPI_ANY_SOURCE, 41, MPI_COMM_WORLD, &message, &status);
  MPI_Mrecv(in, 64, MPI_INT, &message, &status);
  got_status(&status);
  int flag = 0;
  while (!flag) MPI_Improbe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
  MPI_Imrecv(in, 64, MPI_INT, &message, &received);
  MPI_Wait(&received, &status);
  got_status(&status);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  MPI_Iprobe(left, 43, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  got(&flag, sizeof flag);
  MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
  MPI_Mrecv(in, 64, MPI_INT, &message, MPI_STATUS_IGNORE);
}

/* The sender of some is not told by a status: after them nothing is known of their communicator. */
static void unknown(void) {
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  int in = -1;
  MPI_Request requests[2];
  MPI_Isend(&rank, 1, MPI_INT, right, 50, other, &requests[0]);
  MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 50, other, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Sendrecv(&rank, 1, MPI_INT, right, 51, &in, 1, MPI_INT, MPI_ANY_SOURCE, 51, other, MPI_STATUS_IGNORE);
  got(&in, sizeof in);
  MPI_Comm_free(&other);
}

static void derived(void) {
  MPI_Datatype column;
  int matrix[16], in[4];
  MPI_Request request;
  for (int k = 0; k < 16; ++k) matrix[k] = rank + k;
  for (int k = 1; k <= 3; ++k) { /* the handle is used again, for a type of another size */
    MPI_Type_vector(k, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Isend(matrix, 1, column, right, 60, MPI_COMM_WORLD, &request);
    MPI_Type_free(&column);
    MPI_Recv(in, 4, MPI_INT, left, 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    got(in, k * sizeof *in);
  }
}

static void to_nobody(void) {
  int value = 7, flag = 0;
  MPI_Request requests[2];
  MPI_Status status;
  MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  got_status(&status);
  MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, &status);
  got(&flag, sizeof flag);
}

static void cancelled(void) {
  int in = -1, flag = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&in, 1, MPI_INT, left, 70, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  got(&flag, sizeof flag);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int k = 0; k < 3; ++k) {
    char text[16] = "text";
    MPI_Sendrecv_replace(text, 5 + k, MPI_CHAR, right, 70, left, 70, MPI_COMM_WORLD, &status);
    got(text, sizeof text);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  right = (rank + 1) % size;
  left = (rank + size - 1) % size;
  for (const double start = MPI_Wtime(); MPI_Wtime() - start < 10 * MPI_Wtick();) {
  }
  blocking();
  MPI_Barrier(MPI_COMM_WORLD);
  both_ways();
  nonblocking();
  MPI_Barrier(MPI_COMM_WORLD);
  persistent();
  MPI_Barrier(MPI_COMM_WORLD);
  partitioned();
  MPI_Barrier(MPI_COMM_WORLD);
  probed();
  MPI_Barrier(MPI_COMM_WORLD);
  unknown();
  derived();
  to_nobody();
  cancelled();
  unsigned sums[64];
  MPI_Gather(&sum, 1, MPI_UNSIGNED, sums, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  if (rank == 0)
    for (int k = 0; k < size; ++k) printf("rank %d %u\n", k, sums[k]);
  MPI_Finalize();
  return 0;
}
