// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>

namespace hockney::coll {

// The ranks of a communicator, numbered from `root`, whose place is 0.
struct Places {
  explicit Places(MPI_Comm comm, int from = 0) : root(from) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    place = (rank - root + size) % size;
  }

  // Also of places beyond the last one and, down to -size, below the first one.
  int rank_of(int at) const { return static_cast<int>((0LL + at + root + size) % size); }

  int root;
  int rank = 0;
  int size = 1;
  int place = 0;
};

// This place in a binomial tree: its parent has the same number without its lowest one bit, and its children
// are 1, 2, 4, ... places above it, up to that bit. Below each are the places that follow it.
struct BinomialTree {
  BinomialTree(int of, int places) : place(of), size(places) {
    while (bit < size && !(place & bit)) bit <<= 1;
  }

  int parent() const { return static_cast<int>(place - bit); }
  // How many places the subtree of the child `distance` places above has.
  int below(long distance) const { return static_cast<int>(std::min(distance, size - place - distance)); }
  // This one's with this place itself.
  int all() const { return static_cast<int>(std::min(bit, size - place)); }

  long place;
  long size;
  long bit = 1;  // the lowest one bit; of place 0, the first power of two that is at least `size`
};

// The largest power of two of ranks, numbered as places. Of P ranks the first 2 (P - 2^k) form pairs, each of
// which shares a place: the odd rank stands for both, or an even one that is `preferred`.
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
  // The places' ranks follow one another; here begin those of place `at`.
  int first_rank(int at) const { return at + std::min(at, pairs); }

  int preferred;
  int rank = 0;
  int size = 1;
  int power = 1;  // how many places there are
  int pairs = 0;
  bool paired = false;
  int other = 0;  // the rank of the same place
  int place = 0;
  bool stands = true;  // whether this rank takes part at its place
};

}  // namespace hockney::coll
