// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/options.hpp"

namespace hockney {

// Runs the plan or the one case that `options` ask for, printing lines on
// rank 0. Collective over MPI_COMM_WORLD; needs MPI to be initialised.
// Returns the exit code: 0 every case gave a record, 1 some case did not.
int run_session(const Options& options, double init_s);

}  // namespace hockney
