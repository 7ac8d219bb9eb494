// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hockney {

// Counts a call of this process. `operation` and `algorithm` are indices; -1 is MPI's own algorithm.
void count_call(int operation, int algorithm, long long bytes);

// Adds up the counts of all ranks and writes them, on rank 0, to the file that HOCKNEY_PMPI_REPORT names, or
// to stderr. Collective over MPI_COMM_WORLD.
void write_report();

}  // namespace hockney
