/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Calls of collectives that MPI refuses, and some odd ones that it takes, each on a communicator that returns
 * errors. Prints for each call the error class of every rank and a checksum of what was received: a library
 * between the program and MPI must not change any of it. MPI_COMM_WORLD keeps the handler that ends the
 * program. Arguments are names of calls to leave out, with which MPI itself crashes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH 64

static int rank, ranks;
static MPI_Datatype uncommitted, pairs, backwards, copied, later, out_address, in_address;
static MPI_Op own;
static int out[LENGTH], in[LENGTH];
static double reals[LENGTH], results[LENGTH];

/* Of elements whose integers lie one after another. */
static void add(void* from, void* to, int* count, MPI_Datatype* type) {
  MPI_Aint low = 0, extent = 0;
  int size = 0;
  MPI_Type_get_extent(*type, &low, &extent);
  MPI_Type_size(*type, &size);
  for (int k = 0; k < *count; ++k)
    for (int i = 0; i < size / (int)sizeof(int); ++i)
      ((int*)((char*)to + k * extent))[i] += ((int*)((char*)from + k * extent))[i];
}

static int bcast_uncommitted(MPI_Comm c) {
  return MPI_Bcast(in, 1, uncommitted, 0, c);
}
static int bcast_negative(MPI_Comm c) {
  return MPI_Bcast(in, -1, MPI_INT, 0, c);
}
static int bcast_no_type(MPI_Comm c) {
  return MPI_Bcast(in, 4, MPI_DATATYPE_NULL, 0, c);
}
static int bcast_in_place(MPI_Comm c) {
  return MPI_Bcast(MPI_IN_PLACE, 4, MPI_INT, 0, c);
}
static int bcast_no_root(MPI_Comm c) {
  return MPI_Bcast(in, 4, MPI_INT, ranks, c);
}
static int reduce_bits_of_reals(MPI_Comm c) {
  return MPI_Reduce(reals, results, 4, MPI_DOUBLE, MPI_BAND, 0, c);
}
static int reduce_no_root(MPI_Comm c) {
  return MPI_Reduce(out, in, 4, MPI_INT, MPI_SUM, -7, c);
}
static int reduce_no_op(MPI_Comm c) {
  return MPI_Reduce(out, in, 4, MPI_INT, MPI_OP_NULL, 0, c);
}
static int sum_of_pairs(MPI_Comm c) {
  return MPI_Allreduce(out, in, 4, pairs, MPI_SUM, c);
}
static int sum_of_copied(MPI_Comm c) {
  return MPI_Allreduce(out, in, 4, copied, MPI_SUM, c);
}
static int sum_uncommitted(MPI_Comm c) {
  return MPI_Allreduce(out, in, 1, uncommitted, own, c);
}
static int own_of_pairs(MPI_Comm c) {
  return MPI_Allreduce(out, in, 4, pairs, own, c);
}
static int own_backwards(MPI_Comm c) {
  return MPI_Allreduce(out + 20, in + 20, 4, backwards, own, c);
}
static int own_backwards_at_root(MPI_Comm c) {
  return MPI_Reduce(out + 20, in + 20, 4, backwards, own, ranks - 1, c);
}
static int own_backwards_scan(MPI_Comm c) {
  return MPI_Scan(out + 20, in + 20, 4, backwards, own, c);
}
static int scan_replace(MPI_Comm c) {
  return MPI_Scan(out, in, 4, MPI_INT, MPI_REPLACE, c);
}
static int block_of_reals(MPI_Comm c) {
  return MPI_Reduce_scatter_block(reals, results, 4, MPI_DOUBLE, MPI_LXOR, c);
}
static int alltoall_no_type(MPI_Comm c) {
  return MPI_Alltoall(out, 2, MPI_DATATYPE_NULL, in, 2, MPI_INT, c);
}
static int allgather_no_type(MPI_Comm c) {
  return MPI_Allgather(out, 2, MPI_DATATYPE_NULL, in, 2, MPI_INT, c);
}
static int allgather_cut(MPI_Comm c) {
  return MPI_Allgather(out, 4, MPI_INT, in, 2, MPI_INT, c);
}
static int gather_cut(MPI_Comm c) {
  return MPI_Gather(out, 4, MPI_INT, in, 2, MPI_INT, 0, c);
}
static int gather_no_type(MPI_Comm c) {
  return MPI_Gather(out, 2, MPI_DATATYPE_NULL, in, 2, MPI_DATATYPE_NULL, 0, c);
}
/* Valid: other data at the same address, by their types. */
static int allgather_same_address(MPI_Comm c) {
  return rank == 0 ? MPI_Allgather(in, 1, later, in, 1, MPI_INT, c)
                   : MPI_Allgather(in + 40, 1, MPI_INT, in, 1, MPI_INT, c);
}
static int gather_addresses(MPI_Comm c) {
  return rank == 0 ? MPI_Gather(MPI_BOTTOM, 1, out_address, MPI_BOTTOM, 1, in_address, 0, c)
                   : MPI_Gather(out, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, c);
}
static int alltoall_addresses(MPI_Comm c) {
  return rank == 0 ? MPI_Alltoall(MPI_BOTTOM, 1, out_address, MPI_BOTTOM, 1, in_address, c)
                   : MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, c);
}
/* An element at this address, with the extent of an integer. */
static MPI_Datatype addressed(const void* at) {
  MPI_Datatype element, resized;
  MPI_Aint address = 0;
  const int one = 1;
  MPI_Get_address(at, &address);
  MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &element);
  MPI_Type_create_resized(element, 0, sizeof(int), &resized);
  MPI_Type_commit(&resized);
  return resized;
}
static const struct {
  const char* name;
  int (*call)(MPI_Comm);
} calls[] = {
#define CALL(name) {#name, name}
    CALL(bcast_uncommitted),      CALL(bcast_negative),        CALL(bcast_no_type),
    CALL(bcast_in_place),         CALL(bcast_no_root),         CALL(reduce_bits_of_reals),
    CALL(reduce_no_root),         CALL(reduce_no_op),          CALL(sum_of_pairs),
    CALL(sum_of_copied),          CALL(sum_uncommitted),       CALL(own_of_pairs),
    CALL(own_backwards),          CALL(own_backwards_at_root), CALL(own_backwards_scan),
    CALL(scan_replace),           CALL(block_of_reals),        CALL(alltoall_no_type),
    CALL(allgather_no_type),      CALL(allgather_cut),         CALL(gather_cut),
    CALL(gather_no_type),         CALL(gather_addresses),      CALL(alltoall_addresses),
    CALL(allgather_same_address),
};

int main(int argc, char* argv[]) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Type_vector(2, 1, 3, MPI_INT, &uncommitted);
  MPI_Type_contiguous(2, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);
  MPI_Type_create_resized(MPI_INT, 0, -2 * (MPI_Aint)sizeof(int), &backwards);
  MPI_Type_commit(&backwards);
  MPI_Type_dup(MPI_INT, &copied);
  const int one = 1, place = 32;
  MPI_Type_indexed(1, &one, &place, MPI_INT, &later);
  MPI_Type_commit(&later);
  out_address = addressed(out), in_address = addressed(in);
  MPI_Op_create(add, 1, &own);
  for (size_t k = 0; k < sizeof calls / sizeof *calls; ++k) {
    int left_out = 0;
    for (int i = 1; i < argc; ++i) left_out |= strcmp(argv[i], calls[k].name) == 0;
    if (left_out) continue;
    for (int i = 0; i < LENGTH; ++i) out[i] = 100 * rank + i, in[i] = i, reals[i] = i, results[i] = 0;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    const int error = calls[k].call(comm);
    int found[2] = {MPI_SUCCESS, 0}, all[32];
    if (error != MPI_SUCCESS) MPI_Error_class(error, &found[0]);
    if (error == MPI_SUCCESS)
      for (int i = 0; i < LENGTH; ++i) found[1] = 31 * found[1] + in[i] + (int)results[i];
    PMPI_Gather(found, 2, MPI_INT, all, 2, MPI_INT, 0, MPI_COMM_WORLD);
    for (int from = 0; rank == 0 && from < ranks; ++from)
      printf("%s %d: %d %d\n", calls[k].name, from, all[2 * from], all[2 * from + 1]);
    fflush(stdout);
    /* not freed: messages of calls that failed may be left in it */
  }
  MPI_Finalize();
  return 0;
}
