/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HOCKNEY_BARRIER_H
#define HOCKNEY_BARRIER_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A choice of barriers for MPI programs in C (C99 or newer) and Fortran; hockney/barrier.hpp, for C++, has
 * what they do in detail.
 *
 *   hockney_barrier *barrier;
 *   hockney_best_barrier(MPI_COMM_WORLD, &barrier);
 *   for (...) {
 *     work();
 *     hockney_barrier_wait(barrier);
 *   }
 *   hockney_barrier_free(&barrier);   before MPI_Finalize
 *
 * Making and freeing are collective. Functions that return int return MPI_SUCCESS, or an MPI error code after
 * the error handler of `comm` was called with it; `*barrier` is NULL then. */
typedef struct hockney_barrier hockney_barrier;

/* The fastest barrier for this communicator on this machine, found by trials of at most 50 ms if ranks have
 * their own cores. MPI_ERR_COMM for an intercommunicator. */
int hockney_best_barrier(MPI_Comm comm, hockney_barrier** barrier);

/* The barrier with this name. Also MPI_ERR_ARG for a name that is not in hockney_barrier_names(), and
 * MPI_ERR_UNSUPPORTED_OPERATION if this communicator or this MPI does not support it. */
int hockney_make_barrier(const char* name, MPI_Comm comm, hockney_barrier** barrier);

/* No rank returns before all ranks have called it. */
void hockney_barrier_wait(hockney_barrier* barrier);

/* One of hockney_barrier_names(); lives as long as the program. */
const char* hockney_barrier_name(const hockney_barrier* barrier);

/* Sets `*barrier` to NULL, which may also be freed. */
void hockney_barrier_free(hockney_barrier** barrier);

/* All names, separated by '|'. */
const char* hockney_barrier_names(void);

/* For Fortran (hockney/hockney.f90), whose communicators are integers. */
int hockney_best_barrier_f(MPI_Fint comm, hockney_barrier** barrier);
int hockney_make_barrier_f(const char* name, MPI_Fint comm, hockney_barrier** barrier);

#ifdef __cplusplus
}
#endif

#endif
