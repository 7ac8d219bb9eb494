// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace hockney::smpi {

// Whether adding costs time on the simulated machine (HOCKNEY_SUM_S_PER_BYTE).
bool summing_costs_time();

// An MPI_User_function for MPI_DOUBLE: adds, then lets HOCKNEY_SUM_S_PER_BYTE seconds pass for each byte
// added.
void sum_doubles(void* in, void* inout, int* count, MPI_Datatype* type);

}  // namespace hockney::smpi
