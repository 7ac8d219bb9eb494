// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/options.hpp"

namespace hockney {

// Runs the plan or the single case in `options`, printing lines on rank 0. Collective over MPI_COMM_WORLD,
// after MPI_Init. Returns the exit code: 0 if every case produced a record, 1 otherwise.
int run_session(const Options& options, double init_s);

}  // namespace hockney
