// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

// Features of this MPI, as far as its header shows: 1 or 0. The groups reject missing features, and `hockney
// doctor` lists them (abilities/list.inc).

// Calls of MPI-4. Open MPI 5 has them, although it claims to be MPI 3.1.
#if !defined(HOCKNEY_SMPI) && (MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5))
#define HOCKNEY_HAS_MPI4 1
#else
#define HOCKNEY_HAS_MPI4 0
#endif

// SimGrid declares these calls, but they fail; its ranks are single threads without disks.
#ifdef HOCKNEY_SMPI
#define HOCKNEY_HAS_NEIGHBORHOOD 0
#define HOCKNEY_HAS_MPROBE 0
#define HOCKNEY_HAS_FILES 0
#define HOCKNEY_HAS_THREADS 0
#define HOCKNEY_HAS_EMPTY_BLOCKS 0
#define HOCKNEY_HAS_EMPTY_REPLACE 0
#else
#define HOCKNEY_HAS_NEIGHBORHOOD 1
#define HOCKNEY_HAS_MPROBE 1
#define HOCKNEY_HAS_FILES 1
#define HOCKNEY_HAS_THREADS 1
#define HOCKNEY_HAS_EMPTY_BLOCKS 1
#define HOCKNEY_HAS_EMPTY_REPLACE 1
#endif
