// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>

namespace hockney::coll {

// The ranks of a communicator, renumbered so that `root` has place 0.
struct Places {
  explicit Places(MPI_Comm comm, int from = 0) : root(from) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    place = (rank - root + size) % size;
  }

  // Also accepts places beyond the last one and, down to -size, below 0.
  int rank_of(int at) const { return static_cast<int>((0LL + at + root + size) % size); }

  int root;
  int rank = 0;
  int size = 1;
  int place = 0;
};

// This rank's position in a binomial tree: its parent's number is its own without the lowest set bit, and its
// children are 1, 2, 4, ... places above it, up to that bit. The subtree of each consists of consecutive
// places.
struct BinomialTree {
  BinomialTree(int of, int places) : place(of), size(places) {
    while (bit < size && !(place & bit)) bit <<= 1;
  }

  int parent() const { return static_cast<int>(place - bit); }
  // The number of places in the subtree of the child `distance` places above.
  int below(long distance) const { return static_cast<int>(std::min(distance, size - place - distance)); }
  // The number of places in this rank's subtree, including itself.
  int all() const { return static_cast<int>(std::min(bit, size - place)); }

  long place;
  long size;
  long bit = 1;  // the lowest set bit; for place 0, the first power of two that is at least `size`
};

// The largest power of two of ranks, numbered as places. The first 2 (P - 2^k) of the P ranks form pairs that
// share a place: the odd rank represents both, or an even rank if it is `preferred`.
struct Folding {
  explicit Folding(MPI_Comm comm, int even = -1) : preferred(even) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    while (power <= size / 2) power *= 2;
    pairs = size - power;
    paired = rank < 2 * pairs;
    other = paired ? rank ^ 1 : rank;
    place = place_of(rank);
    stands = rank_of(place) == rank;
  }

  int rank_of(int at) const {
    if (at >= pairs) return at + pairs;
    return 2 * at == preferred ? preferred : 2 * at + 1;
  }
  int place_of(int of) const { return of < 2 * pairs ? of / 2 : of - pairs; }
  // The first rank of place `at`; the ranks of consecutive places are consecutive.
  int first_rank(int at) const { return at + std::min(at, pairs); }

  int preferred;
  int rank = 0;
  int size = 1;
  int power = 1;  // number of places
  int pairs = 0;
  bool paired = false;
  int other = 0;  // the other rank of the same place
  int place = 0;
  bool stands = true;  // whether this rank represents its place
};

}  // namespace hockney::coll
