// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/sum_op.hpp"

#ifdef HOCKNEY_SMPI
#include "smpi/sum.hpp"
#endif

namespace hockney {

SumOp::SumOp() {
#ifdef HOCKNEY_SMPI
  if (smpi::summing_costs_time()) MPI_Op_create(smpi::sum_doubles, 1, &operation);
#endif
}

SumOp::~SumOp() {
  if (operation != MPI_SUM) MPI_Op_free(&operation);
}

}  // namespace hockney
