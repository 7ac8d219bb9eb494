// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "base/invalid_case.hpp"
#include "coll/algorithm.hpp"
#include "measure/values.hpp"

namespace hockney {

// The algorithm named `name` in a plug-in folder's table. Throws InvalidCase if the table does not contain
// it.
template <class Algorithm>
const Algorithm& find_algorithm(std::span<const Algorithm* const> table, const std::string& name) {
  for (const Algorithm* algorithm : table)
    if (name == algorithm->name) return *algorithm;
  throw InvalidCase("unknown algorithm " + name);
}

// The function that algorithm= selects: MPI's own for `mpi`, otherwise one from coll/OPERATION.
template <class Operation>
typename Operation::Call* chosen_call(const Values& values, typename Operation::Call* mpi) {
  if (values.word("algorithm") == "mpi") return mpi;
  return find_algorithm(Operation::table(), values.word("algorithm")).call;
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
                                        "algorithm: MPI's own choice, or one of hockney's"};

}  // namespace parameters

}  // namespace hockney
