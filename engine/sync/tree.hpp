// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace hockney::sync {

// Children per rank of the tree barrier of Mellor-Crummey and Scott (ACM TOCS 9, 1991): arrivals go
// up a tree of the first kind, the wake-up goes down one of the second.
inline constexpr int arrival_ways = 4;
inline constexpr int wake_up_ways = 2;

// A complete tree with `ways` children per rank, rooted at rank 0, numbered level by level.
struct Tree {
  int rank;
  int size;
  int ways;

  bool root() const { return rank == 0; }
  int parent() const { return (rank - 1) / ways; }
  // The children are the ranks from first_child() up to, but not including, beyond_children().
  int first_child() const { return within(static_cast<long>(ways) * rank + 1); }
  int beyond_children() const { return within(static_cast<long>(ways) * rank + ways + 1); }

  int children() const { return beyond_children() - first_child(); }

  // Levels below the root.
  static constexpr int height(int size, int ways) {
    int levels = 0;
    for (int last = size - 1; last > 0; last = (last - 1) / ways) ++levels;
    return levels;
  }
  // The maximum number of children of a rank.
  static constexpr int widest(int size, int ways) { return std::min(ways, size - 1); }

 private:
  int within(long rank_) const { return static_cast<int>(std::min<long>(rank_, size)); }
};

}  // namespace hockney::sync
