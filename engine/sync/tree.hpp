// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace hockney::sync {

// Children per rank in the tree barrier of Mellor-Crummey and Scott (ACM TOCS 9, 1991): arrivals go up a tree
// with the first number of children, the wake-up goes down a tree with the second.
inline constexpr int arrival_arity = 4;
inline constexpr int wake_up_arity = 2;

// A complete tree with `arity` children per rank, rooted at rank 0, numbered level by level.
struct Tree {
  int rank;
  int size;
  int arity;

  bool root() const { return rank == 0; }
  int parent() const { return (rank - 1) / arity; }
  // The children are the ranks from first_child() to children_end() - 1.
  int first_child() const { return clamp_to_size(static_cast<long>(arity) * rank + 1); }
  int children_end() const { return clamp_to_size(static_cast<long>(arity) * rank + arity + 1); }

  int children() const { return children_end() - first_child(); }

  // Number of levels below the root.
  static constexpr int height(int size, int arity) {
    int levels = 0;
    for (int last = size - 1; last > 0; last = (last - 1) / arity) ++levels;
    return levels;
  }
  // The maximum number of children of a rank.
  static constexpr int max_children(int size, int arity) { return std::min(arity, size - 1); }

 private:
  int clamp_to_size(long rank_) const { return static_cast<int>(std::min<long>(rank_, size)); }
};

}  // namespace hockney::sync
