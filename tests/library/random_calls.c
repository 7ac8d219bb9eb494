/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 *     random_calls SEED CALLS [mpich]
 *
 * Random collective calls, the same sequence on all ranks, most of them valid, under MPI_ERRORS_RETURN. Rank
 * 0 prints a line for each: what it was, and for every rank the class of its error and a checksum of all
 * bytes of its buffers. An argument that is wrong is so on all ranks: otherwise those where it is right would
 * never return. Calls that end MPI itself are left out: with `mpich` also reductions of MPI_DATATYPE_NULL and
 * of negative counts. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 60, ROOM = 1 << 16, TYPES = 12, OPS = 13 };

static uint64_t state;

static unsigned drawn(unsigned below) {
  state += 0x9e3779b97f4a7c15u;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (unsigned)((z ^ (z >> 31)) % below);
}

static int one_in(unsigned n) {
  return drawn(n) == 0;
}

/* x -> ax + b, which does not commute. */
static void composed(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const uint32_t* first = in;
  uint32_t* second = inout;
  for (int k = 0; k < *count; ++k, first += 2, second += 2) {
    const uint32_t b = second[0] * first[1] + second[1];
    second[0] *= first[0];
    second[1] = b;
  }
}

static MPI_Datatype types[TYPES + 2];
static MPI_Op operations[OPS + 1], composition;
static MPI_Datatype pairs, uncommitted;

static void make_types(void) {
  const MPI_Datatype named[] = {MPI_BYTE,          MPI_CHAR, MPI_INT,       MPI_DOUBLE,
                                MPI_UNSIGNED_LONG, MPI_2INT, MPI_DOUBLE_INT};
  memcpy(types, named, sizeof named);
  MPI_Type_contiguous(3, MPI_INT, &types[7]);
  MPI_Type_vector(2, 1, 3, MPI_INT, &types[8]);
  MPI_Type_create_resized(MPI_INT, 0, 12, &types[9]);
  MPI_Type_dup(MPI_DOUBLE, &types[10]);
  const int lengths[] = {1, 2};
  const MPI_Aint places[] = {8, 0};
  const MPI_Datatype parts[] = {MPI_DOUBLE, MPI_CHAR};
  MPI_Type_create_struct(2, lengths, places, parts, &types[11]);
  for (int k = 7; k < TYPES; ++k) MPI_Type_commit(&types[k]);
  MPI_Type_contiguous(2, MPI_UNSIGNED, &pairs);
  MPI_Type_commit(&pairs);
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  types[TYPES] = MPI_DATATYPE_NULL;
  types[TYPES + 1] = uncommitted;
  const MPI_Op known[] = {MPI_SUM, MPI_MAX,  MPI_MIN,  MPI_PROD,   MPI_LAND,   MPI_BAND,   MPI_LOR,
                          MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_OP_NULL};
  memcpy(operations, known, sizeof known);
  MPI_Op_create(composed, 0, &composition);
  operations[OPS] = composition;
}

static unsigned char out[ROOM], in[ROOM];

/* Numbers are small and whole, so that sums and products are exact in any order. */
static void fill(unsigned seed) {
  const uint64_t kept = state;
  state = seed;
  for (int k = 0; k < ROOM; k += 8) {
    const double number = 1.0 + drawn(2);
    memcpy(out + k, &number, 8);
  }
  if (seed % 2) /* or any bytes, for types that are not added up */
    for (int k = 0; k < ROOM; ++k) out[k] = (unsigned char)drawn(256);
  memset(in, 0x5a, ROOM);
  state = kept;
}

static unsigned long checksum(void) {
  unsigned long sum = 1469598103934665603ul;
  for (int k = 0; k < ROOM; ++k) sum = (sum ^ in[k]) * 1099511628211ul;
  for (int k = 0; k < ROOM; ++k) sum = (sum ^ out[k]) * 1099511628211ul;
  return sum;
}

static int pick_type(int numbers, int mpich) {
  if (one_in(20)) return TYPES + (mpich && numbers ? 1 : (int)drawn(2));
  if (numbers && !one_in(6)) return 2 + (int)drawn(2);
  return (int)drawn(TYPES);
}

int main(int argc, char** argv) {
  static const char* const names[] = {"bcast",    "gather", "scatter",   "allgather",
                                      "alltoall", "reduce", "allreduce", "reduce_scatter_block",
                                      "scan",     "barrier"};
  MPI_Init(&argc, &argv);
  state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const int calls = argc > 2 ? atoi(argv[2]) : 100;
  const int mpich = argc > 3 && strcmp(argv[3], "mpich") == 0;
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  make_types();
  MPI_Comm comms[4] = {MPI_COMM_WORLD};
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[3]);
  for (int k = 0; k < 4; ++k) MPI_Comm_set_errhandler(comms[k], MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (int number = 0; number < calls; ++number) {
    const int what = (int)drawn(10);
    const int reduces = what >= 5 && what <= 8;
    int which = (int)drawn(4), t = pick_type(reduces, mpich), o = (int)drawn(OPS + 1);
    int count = one_in(25) ? -1 : (int)drawn(one_in(4) ? MOST : 5), received = count;
    if (mpich && reduces && count < 0) count = received = 0;
    int root = one_in(25) ? (one_in(2) ? -3 : 1000) : (int)drawn(1000);
    const int in_place = one_in(5) && count >= 0 && t < TYPES && root >= 0 && root < 1000,
              aliased = one_in(30) && what >= 6 && what <= 8, split = one_in(6), freed = one_in(60);
    if (reduces && one_in(2)) o = 0;
    if (freed) { /* a new communicator may have the handle of one that is gone */
      MPI_Comm_free(&comms[2]);
      MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
      MPI_Comm_set_errhandler(comms[2], MPI_ERRORS_RETURN);
    }
    fill((unsigned)(number * 64 + 2 * rank + (int)(!reduces)));
    const int null_comm =
        one_in(40) && (what == 0 || what == 5 || what == 6 || what == 9); /* others end MPIs */
    MPI_Comm comm = null_comm ? MPI_COMM_NULL : comms[which];
    int mine = 0, members = 1;
    if (comm != MPI_COMM_NULL) MPI_Comm_rank(comm, &mine), MPI_Comm_size(comm, &members);
    if (root >= 0 && root < 1000) root %= members;
    /* An own operation is for its own type; the other way round it would read what is not there. */
    MPI_Datatype type = reduces && o == OPS ? pairs : types[t], other = type;
    if (split && !reduces && t == 7) other = MPI_INT, received = 3 * count; /* the same signature */
    const MPI_Op op = operations[o];
    const void* from = aliased ? in : out;
    void* to = in;
    const int at_root = mine == root;
    int error = MPI_SUCCESS;
    switch (what) {
      case 0:
        error = MPI_Bcast(in, mine == root ? count : received, mine == root ? type : other, root, comm);
        break;
      case 1:
        error = MPI_Gather(in_place && at_root ? MPI_IN_PLACE : from, count, type, to, received, other, root,
                           comm);
        break;
      case 2:
        error = MPI_Scatter(from, count, type, in_place && at_root ? MPI_IN_PLACE : to, received, other, root,
                            comm);
        break;
      case 3:
        error = MPI_Allgather(in_place ? MPI_IN_PLACE : from, count, type, to, received, other, comm);
        break;
      case 4:
        error = MPI_Alltoall(in_place ? MPI_IN_PLACE : from, count, type, to, received, other, comm);
        break;
      case 5:
        error = MPI_Reduce(in_place && at_root ? MPI_IN_PLACE : from, to, count, type, op, root, comm);
        break;
      case 6: error = MPI_Allreduce(in_place ? MPI_IN_PLACE : from, to, count, type, op, comm); break;
      case 7:
        error = MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : from, to, count, type, op, comm);
        break;
      case 8: error = MPI_Scan(in_place ? MPI_IN_PLACE : from, to, count, type, op, comm); break;
      default: error = MPI_Barrier(comm);
    }
    unsigned long result[2] = {0, 0}, all[2 * 64];
    int class = MPI_SUCCESS;
    if (error != MPI_SUCCESS) MPI_Error_class(error, &class);
    result[0] = (unsigned long)class;
    result[1] = class == MPI_SUCCESS ? checksum() : 0; /* after an error, buffers may have anything */
    PMPI_Gather(result, 2, MPI_UNSIGNED_LONG, all, 2, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      printf("%d %s comm=%d type=%d count=%d op=%d root=%d in_place=%d aliased=%d:", number, names[what],
             comm == MPI_COMM_NULL ? -1 : which, t, count, reduces ? o : -1, root, in_place, aliased);
      for (int k = 0; k < size; ++k) printf(" %lu:%lx", all[2 * k], all[2 * k + 1]);
      printf("\n");
      fflush(stdout);
    }
  }
  for (int k = 1; k < 4; ++k) MPI_Comm_free(&comms[k]);
  MPI_Finalize();
  return 0;
}
