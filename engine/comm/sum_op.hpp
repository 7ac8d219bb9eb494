// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace hockney {

// The operation by which reductions sum doubles: MPI_SUM. SMPI adds in zero time, so a custom operation is
// used on a simulated machine whose description gives the cost of adding.
class SumOp {
 public:
  SumOp();
  ~SumOp();
  SumOp(const SumOp&) = delete;
  SumOp& operator=(const SumOp&) = delete;

  MPI_Op operation = MPI_SUM;
};

}  // namespace hockney
