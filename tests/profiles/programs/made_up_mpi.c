/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * An MPI with one rank, with the binary interface of the standard, as far as made_up_calls.c and the
 * recording library call it: functions of each kind of arguments and results, which print what they get. */
#include "made_up_mpi.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A function MPI_X and its other name PMPI_X. */
#define DEFINE(type, name, ...)                                                    \
  type name(__VA_ARGS__) __attribute__((visibility("default"), alias("P" #name))); \
  type P##name(__VA_ARGS__)

DEFINE(int, MPI_Init, int* argc, char*** argv) {
  return !(*argc > 0 && **argv);
}
DEFINE(int, MPI_Finalize, void) {
  return 0;
}
DEFINE(int, MPI_Initialized, int* flag) {
  return *flag = 1, 0;
}
DEFINE(int, MPI_Query_thread, int* level) {
  return *level = 1, 0;
}
DEFINE(int, MPI_Abi_get_version, int* major, int* minor) {
  return *major = 1, *minor = 0, 0;
}
DEFINE(int, MPI_Comm_rank, Handle comm, int* rank) {
  return *rank = comm ? 0 : -1, 0;
}
DEFINE(int, MPI_Comm_size, Handle comm, int* size) {
  return *size = comm ? 1 : -1, 0;
}
DEFINE(int, MPI_Comm_test_inter, Handle comm, int* flag) {
  return *flag = comm == 0, 0;
}
DEFINE(int, MPI_Comm_group, Handle comm, Handle* group) {
  return *group = comm + 1000, 0;
}
DEFINE(int, MPI_Group_free, Handle* group) {
  return *group = 0, 0;
}
DEFINE(int, MPI_Type_size, Handle type, int* size) {
  return *size = type == INT ? 4 : 1, 0;
}
DEFINE(int, MPI_Group_translate_ranks, Handle one, int count, const int* ranks, Handle other, int* places) {
  for (int k = 0; k < count; ++k) places[k] = one && other ? ranks[k] : -1;
  return 0;
}
DEFINE(int, MPI_Allgather, const void* sent, int count, Handle type, void* received, int room, Handle as,
       Handle comm) {
  return !(type == as && count == room && comm && memcpy(received, sent, (size_t)count));
}

/* No argument, and a result in a floating-point register. */
static double now = 1.25;
DEFINE(double, MPI_Wtime, void) {
  return now *= 2;
}
double mpi_wtime_(void) {
  return now *= 2;
}
/* A result as wide as an address. */
DEFINE(int64_t, MPI_Aint_add, int64_t base, int64_t displacement) {
  return base + displacement;
}

/* 9, 12 and 13 arguments. */
DEFINE(int, MPI_Accumulate, const void* a, int b, Handle c, int d, int64_t e, int f, Handle g, Handle h,
       Handle i) {
  printf("accumulate %d %d %d %d %ld %d %d %d %d\n", *(const int*)a, b, (int)c, d, (long)e, f, (int)g, (int)h,
         (int)i);
  return 0;
}
DEFINE(int, MPI_Sendrecv, const void* a, int b, Handle c, int d, int e, void* f, int g, Handle h, int i,
       int j, Handle k, int32_t* l) {
  printf("sendrecv %d %d %d %d %d %d %d %d %d %d %d %d\n", *(const int*)a, b, (int)c, d, e, *(int*)f, g,
         (int)h, i, j, (int)k, l == 0);
  if (l) l[0] = i, l[1] = j;
  return *(int*)f = *(const int*)a, 0;
}
void mpi_sendrecv_(const int* a, const int* b, const int* c, const int* d, const int* e, int* f, const int* g,
                   const int* h, const int* i, const int* j, const int* k, int* l, int* error) {
  printf("mpi_sendrecv_ %d %d %d %d %d %d %d %d %d %d %d\n", *a, *b, *c, *d, *e, *f, *g, *h, *i, *j, *k);
  l[0] = *i, l[1] = *j, *f = *a, *error = 0;
}
/* The length of the text follows the declared arguments. */
void mpi_comm_set_name_(const int* comm, const char* name, int* error, size_t length) {
  printf("mpi_comm_set_name_ %d %.*s\n", *comm, (int)length, name);
  *error = 0;
}
void mpi_comm_rank_f08_(const int* comm, int* rank, int* error) {
  *rank = *comm ? 0 : -1;
  if (error) *error = 0;
}
/* A function that MPI calls. */
static Operation* operation;
DEFINE(int, MPI_Op_create, Operation* function, int commutes, Handle* op) {
  operation = function;
  return *op = commutes ? 77 : 0, 0;
}
DEFINE(int, MPI_Allreduce, const void* a, void* b, int count, Handle type, Handle op, Handle comm) {
  if (op != 77 || comm != WORLD) return 1;
  memset(b, 0, 4 * (size_t)count);
  operation(a, b, &count, &type);
  return 0;
}

/* Functions that the standard lacks: their declarations are not known. */
DEFINE(double, MPIX_Blend, MIXED) {
  printf("blend");
  const double floats[] = {p, q, r, s, t, u, v, w, x, y};
  const int64_t words[] = {a, b, c, d, e, f, g, h, i, j, k, l};
  for (int n = 0; n < 10; ++n) printf(" %g", floats[n]);
  for (int n = 0; n < 12; ++n) printf(" %ld", (long)words[n]);
  printf("\n");
  return p + y;
}
DEFINE(Large, MPIX_Large, int64_t first) {
  return (Large){{first, first + 1, first + 2, first + 3, first + 4}};
}
DEFINE(int, MPI_Pcontrol, const int level, ...) {
  va_list more;
  va_start(more, level);
  printf("pcontrol %d", level);
  for (int k = 0; k < 9; ++k) {
    const double number = va_arg(more, double);
    printf(" %g %ld", number, va_arg(more, long));
  }
  va_end(more);
  printf("\n");
  return 0;
}
