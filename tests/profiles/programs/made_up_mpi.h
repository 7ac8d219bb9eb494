/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef intptr_t Handle;
enum { WORLD = 0x101, BYTE = 0x247, INT = 0x248 };
typedef void Operation(const void* from, void* to, const int* count, const Handle* type);
typedef struct {
  int64_t words[5];
} Large;

int MPI_Init(int* argc, char*** argv);
int MPI_Finalize(void);
int MPI_Comm_rank(Handle comm, int* rank);
double MPI_Wtime(void);
double mpi_wtime_(void);
int64_t MPI_Aint_add(int64_t base, int64_t displacement);
int MPI_Accumulate(const void*, int, Handle, int, int64_t, int, Handle, Handle, Handle);
int MPI_Sendrecv(const void*, int, Handle, int, int, void*, int, Handle, int, int, Handle, int32_t*);
void mpi_sendrecv_(const int*, const int*, const int*, const int*, const int*, int*, const int*, const int*,
                   const int*, const int*, const int*, int*, int*);
void mpi_comm_set_name_(const int* comm, const char* name, int* error, size_t length);
void mpi_comm_rank_f08_(const int* comm, int* rank, int* error);
int MPI_Op_create(Operation*, int commutes, Handle* op);
int MPI_Allreduce(const void*, void*, int count, Handle type, Handle op, Handle comm);
/* More of each kind than there are registers, and then some on the stack. */
#define MIXED                                                                                              \
  double p, int64_t a, double q, int64_t b, double r, int64_t c, double s, int64_t d, double t, int64_t e, \
      double u, int64_t f, double v, int64_t g, double w, int64_t h, double x, int64_t i, double y,        \
      int64_t j, int64_t k, int64_t l
double MPIX_Blend(MIXED);
Large MPIX_Large(int64_t first);
int MPI_Pcontrol(const int level, ...);
