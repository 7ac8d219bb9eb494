/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HOCKNEY_COLL_H
#define HOCKNEY_COLL_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Collective operations with a choice of algorithms, for MPI programs in C (C99 or newer) and Fortran;
 * hockney/coll.hpp, for C++, has what they support in detail.
 *
 *   hockney_allreduce(MPI_IN_PLACE, data, count, MPI_DOUBLE, MPI_SUM, comm, "ring");
 *   hockney_allreduce(MPI_IN_PLACE, data, count, MPI_DOUBLE, MPI_SUM, comm, NULL);   by the table
 *
 * The functions have the arguments of the MPI functions and an algorithm, the same on all ranks: "mpi", a
 * name from the documentation, or NULL for the table in the file that the environment variable
 * HOCKNEY_CHOICES names. They return MPI_SUCCESS, or an MPI error code after the error handler of `comm` was
 * called with it; for an unknown algorithm MPI_ERR_ARG. */
int hockney_bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, const char* algorithm);
int hockney_gather(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
                   MPI_Datatype received_type, int root, MPI_Comm comm, const char* algorithm);
int hockney_scatter(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
                    MPI_Datatype received_type, int root, MPI_Comm comm, const char* algorithm);
int hockney_allgather(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
                      MPI_Datatype received_type, MPI_Comm comm, const char* algorithm);
int hockney_alltoall(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
                     MPI_Datatype received_type, MPI_Comm comm, const char* algorithm);
int hockney_reduce(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op, int root,
                   MPI_Comm comm, const char* algorithm);
int hockney_allreduce(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm, const char* algorithm);
int hockney_reduce_scatter_block(const void* outgoing, void* incoming, int received, MPI_Datatype type,
                                 MPI_Op op, MPI_Comm comm, const char* algorithm);
int hockney_scan(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                 const char* algorithm);

/* For Fortran (hockney/hockney.f90), whose handles are integers. */
int hockney_bcast_f(void* data, int count, MPI_Fint type, int root, MPI_Fint comm, const char* algorithm);
int hockney_gather_f(const void* outgoing, int sent, MPI_Fint sent_type, void* incoming, int received,
                     MPI_Fint received_type, int root, MPI_Fint comm, const char* algorithm);
int hockney_scatter_f(const void* outgoing, int sent, MPI_Fint sent_type, void* incoming, int received,
                      MPI_Fint received_type, int root, MPI_Fint comm, const char* algorithm);
int hockney_allgather_f(const void* outgoing, int sent, MPI_Fint sent_type, void* incoming, int received,
                        MPI_Fint received_type, MPI_Fint comm, const char* algorithm);
int hockney_alltoall_f(const void* outgoing, int sent, MPI_Fint sent_type, void* incoming, int received,
                       MPI_Fint received_type, MPI_Fint comm, const char* algorithm);
int hockney_reduce_f(const void* outgoing, void* incoming, int count, MPI_Fint type, MPI_Fint op, int root,
                     MPI_Fint comm, const char* algorithm);
int hockney_allreduce_f(const void* outgoing, void* incoming, int count, MPI_Fint type, MPI_Fint op,
                        MPI_Fint comm, const char* algorithm);
int hockney_reduce_scatter_block_f(const void* outgoing, void* incoming, int received, MPI_Fint type,
                                   MPI_Fint op, MPI_Fint comm, const char* algorithm);
int hockney_scan_f(const void* outgoing, void* incoming, int count, MPI_Fint type, MPI_Fint op, MPI_Fint comm,
                   const char* algorithm);

#ifdef __cplusplus
}
#endif

#endif
