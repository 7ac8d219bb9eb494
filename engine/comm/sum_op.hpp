// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace hockney {

// The operation by which reductions sum doubles: MPI_SUM. SMPI's adds in no time, so on a simulated machine
// that says what adding costs it is one of our own.
class SumOp {
 public:
  SumOp();
  ~SumOp();
  SumOp(const SumOp&) = delete;
  SumOp& operator=(const SumOp&) = delete;

  MPI_Op operation = MPI_SUM;
};

}  // namespace hockney
