// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "base/invalid_case.hpp"
#include "coll/algorithm.hpp"
#include "measure/values.hpp"

namespace hockney {

// The algorithm of a shelf's table that algorithm= names. Throws InvalidCase where there is none.
template <class Algorithm>
const Algorithm& chosen(std::span<const Algorithm* const> table, const Values& values) {
  const std::string& name = values.word("algorithm");
  for (const Algorithm* algorithm : table)
    if (name == algorithm->name) return *algorithm;
  throw InvalidCase("there is no algorithm " + name);
}

// The function that algorithm= names: MPI's own, `mpi`, or one of coll/OPERATION.
template <class Operation>
typename Operation::Call* chosen_call(const Values& values, typename Operation::Call* mpi) {
  if (values.word("algorithm") == "mpi") return mpi;
  return chosen(Operation::table(), values).call;
}

namespace parameters {

template <class Operation>
inline constexpr Parameter algorithm_of{"algorithm",
                                        Kind::choice,
                                        "",
                                        "mpi",
                                        0,
                                        0,
                                        Operation::choices,
                                        "which algorithm: MPI's own choice, or one of ours"};

}  // namespace parameters

}  // namespace hockney
