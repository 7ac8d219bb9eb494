// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "coll/algorithm.hpp"

namespace hockney {

// Calls `visit(name, operation::NAME*, place)` for each operation, in order.
template <class Visit>
void for_each_operation(Visit&& visit) {
  int place = 0;
  visit("bcast", static_cast<operation::bcast*>(nullptr), place++);
  visit("gather", static_cast<operation::gather*>(nullptr), place++);
  visit("scatter", static_cast<operation::scatter*>(nullptr), place++);
  visit("allgather", static_cast<operation::allgather*>(nullptr), place++);
  visit("alltoall", static_cast<operation::alltoall*>(nullptr), place++);
  visit("reduce", static_cast<operation::reduce*>(nullptr), place++);
  visit("allreduce", static_cast<operation::allreduce*>(nullptr), place++);
  visit("reduce_scatter_block", static_cast<operation::reduce_scatter_block*>(nullptr), place++);
  visit("scan", static_cast<operation::scan*>(nullptr), place++);
}

// An operation with the names of its algorithms.
struct NamedOperation {
  std::string_view name;
  std::vector<std::string_view> algorithms;
};

// By index; the last one is the barrier, whose algorithms are `best` followed by barrier_names(). Does not
// need MPI.
const std::vector<NamedOperation>& operations_with_names();
inline constexpr std::string_view best = "best";
inline int place_of_barrier() {
  return static_cast<int>(operations_with_names().size()) - 1;
}

// The index of an operation in this list.
template <class Operation>
int place_of() {
  static const int found = [] {
    int place = -1;
    for_each_operation([&](std::string_view, auto* operation, int at) {
      if constexpr (std::is_same_v<decltype(operation), Operation*>) place = at;
    });
    return place;
  }();
  return found;
}

}  // namespace hockney
