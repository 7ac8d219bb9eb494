/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 *     onesided FILE
 *
 * Windows with every kind of synchronisation, and MPI-IO on FILE, on at least 2 ranks. Each rank puts 8 bytes into
 * the next one and gets 16 from it, several times: what it puts and gets with each function is printed at the end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, right, left;
static long long put_bytes, got_bytes;
static unsigned sum = 1;

static void got(const void* bytes, int length) {
  const unsigned char* each = bytes;
  for (int k = 0; k < length; ++k) sum = sum * 31 + each[k];
}

static void windows(void) {
  MPI_Win win, allocated, shared, dynamic;
  double *memory = NULL, *own = NULL, in[4] = {0}, out[4] = {rank, rank + 1, rank + 2, rank + 3};
  MPI_Request request[4];
  MPI_Aint address = 0;
  MPI_Group world, to, from;
  MPI_Win_allocate(64 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  for (int k = 0; k < 64; ++k) memory[k] = k;
  for (int k = 0; k < 3; ++k) {
    MPI_Win_fence(0, win);
    MPI_Put(out, 1, MPI_DOUBLE, right, k, 1, MPI_DOUBLE, win);
    MPI_Get(in, 2, MPI_DOUBLE, right, 40, 2, MPI_DOUBLE, win);
    put_bytes += 8, got_bytes += 16;
    MPI_Win_fence(0, win);
    got(in, 16);
  }
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &right, &to);
  MPI_Group_incl(world, 1, &left, &from);
  MPI_Win_post(from, 0, win);
  MPI_Win_start(to, 0, win);
  MPI_Accumulate(out, 2, MPI_DOUBLE, right, 8, 2, MPI_DOUBLE, MPI_SUM, win);
  put_bytes += 16;
  MPI_Win_complete(win);
  MPI_Win_wait(win);
  MPI_Win_post(from, 0, win);
  MPI_Win_start(to, 0, win);
  MPI_Put(out, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, win);
  MPI_Win_complete(win);
  int flag = 0;
  while (!flag) MPI_Win_test(win, &flag);
  MPI_Group_free(&to);
  MPI_Group_free(&from);
  MPI_Group_free(&world);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
  double old = 0, one = 1, now = 0;
  MPI_Fetch_and_op(&one, &old, MPI_DOUBLE, right, 20, MPI_SUM, win);
  got_bytes += 8;
  MPI_Win_flush(right, win);
  MPI_Win_flush_local(right, win);
  MPI_Get_accumulate(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, right, 22, 2, MPI_DOUBLE, MPI_REPLACE, win);
  got_bytes += 16;
  MPI_Win_flush(right, win);
  MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, in, 2, MPI_DOUBLE, right, 22, 2, MPI_DOUBLE, MPI_NO_OP, win);
  got_bytes += 16;
  MPI_Win_unlock(right, win);
  got(&old, 8);
  MPI_Win_lock_all(0, win);
  MPI_Rput(out, 1, MPI_DOUBLE, right, 30, 1, MPI_DOUBLE, win, &request[0]);
  MPI_Rget(in, 2, MPI_DOUBLE, right, 40, 2, MPI_DOUBLE, win, &request[1]);
  MPI_Raccumulate(out, 1, MPI_DOUBLE, right, 32, 1, MPI_DOUBLE, MPI_SUM, win, &request[2]);
  MPI_Rget_accumulate(out, 1, MPI_DOUBLE, &now, 1, MPI_DOUBLE, right, 34, 1, MPI_DOUBLE, MPI_SUM, win, &request[3]);
  put_bytes += 16, got_bytes += 24;
  MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
  MPI_Win_flush_all(win);
  MPI_Win_flush_local_all(win);
  MPI_Win_sync(win);
  MPI_Win_unlock_all(win);
  MPI_Win_set_name(win, "window");
  MPI_Win_free(&win);
  for (int k = 0; k < 4; ++k) { /* the handle is used again */
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, k % 2 ? 0 : rank % 2, 0, &half);
    MPI_Win_create(out, sizeof out, 1, MPI_INFO_NULL, half, &win);
    MPI_Comm_free(&half);
    MPI_Win_fence(0, win);
    MPI_Put(in, 3, MPI_CHAR, 0, 0, 3, MPI_CHAR, win);
    put_bytes += 3;
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
  }
  MPI_Win_allocate(8 * sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &allocated);
  int three = 3, zero = 0, found = -1;
  memset(own, 0, 8 * sizeof(int));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, allocated);
  MPI_Compare_and_swap(&three, &zero, &found, MPI_INT, right, 0, allocated);
  got_bytes += 4;
  MPI_Win_unlock(right, allocated);
  got(&found, 4);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&allocated);
  MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &shared);
  MPI_Aint bytes = 0;
  int unit = 0;
  double* others = NULL;
  MPI_Win_shared_query(shared, right, &bytes, &unit, &others);
  MPI_Win_free(&shared);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
  MPI_Win_attach(dynamic, out, sizeof out);
  MPI_Get_address(out, &address);
  MPI_Aint there = 0;
  MPI_Sendrecv(&address, 1, MPI_AINT, left, 0, &there, 1, MPI_AINT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, dynamic);
  MPI_Get(in, 1, MPI_DOUBLE, right, MPI_Aint_add(there, 8), 1, MPI_DOUBLE, dynamic);
  got_bytes += 8;
  MPI_Win_unlock(right, dynamic);
  got(in, 8);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_detach(dynamic, out);
  MPI_Win_free(&dynamic);
}

static void files(const char* path) {
  MPI_File file;
  MPI_Status status;
  MPI_Request request;
  char out[64], in[64];
  memset(out, 'a' + rank, sizeof out);
  for (int turn = 0; turn < 2; ++turn) {
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_size(file, 0);
    MPI_File_write_at(file, rank * 64, out, 32, MPI_CHAR, &status);
    MPI_File_write_at_all(file, rank * 64 + 32, out, 32, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(file, right * 64, in, 64, MPI_CHAR, &status);
    got(in, 64);
    MPI_File_seek(file, left * 64, MPI_SEEK_SET);
    MPI_File_read(file, in, 10, MPI_CHAR, &status);
    MPI_File_read_all(file, in, 10, MPI_CHAR, &status);
    got(in, 10);
    MPI_File_iread_at(file, 0, in, 20, MPI_CHAR, &request);
    MPI_Wait(&request, &status);
    got(in, 20);
    MPI_File_iwrite_at(file, rank * 64, out, 8, MPI_CHAR, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_iread_at_all(file, 0, in, 20, MPI_CHAR, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, rank * 64, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
    MPI_File_write_all_begin(file, out, 16, MPI_CHAR);
    MPI_File_write_all_end(file, out, &status);
    MPI_File_get_position(file, &(MPI_Offset){0});
    MPI_File_close(&file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_File_delete(path, MPI_INFO_NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  right = (rank + 1) % size;
  left = (rank + size - 1) % size;
  windows();
  files(argv[1]);
  unsigned sums[64];
  MPI_Gather(&sum, 1, MPI_UNSIGNED, sums, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("put %lld got %lld\n", put_bytes, got_bytes);
    for (int k = 0; k < size; ++k) printf("rank %d %u\n", k, sums[k]);
  }
  MPI_Finalize();
  return 0;
}
