// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "measure/values.hpp"

namespace hockney::onesided {

// The operator applied to the target's elements, from the parameter `op`.
struct Operator {
  explicit Operator(const Values& values)
      : sums(values.word("op") == "sum"),
        replaces(values.word("op") == "replace"),
        op(sums       ? MPI_SUM
           : replaces ? MPI_REPLACE
                      : MPI_NO_OP) {}

  const bool sums;
  const bool replaces;
  const MPI_Op op;
};

constexpr Parameter operator_of(const char* choices) {
  return {
      "op",    Kind::choice,
      "",      "sum",
      0,       0,
      choices, "operation on the target's elements: sum (MPI_SUM), replace (MPI_REPLACE), no_op (unchanged)"};
}

}  // namespace hockney::onesided
