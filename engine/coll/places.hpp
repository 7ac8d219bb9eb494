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

  // Also accepts places from -size to beyond the last one.
  int rank_of(int place_number) const { return static_cast<int>((0LL + place_number + root + size) % size); }

  int root;
  int rank = 0;
  int size = 1;
  int place = 0;
};

// This rank's position in a binomial tree. Its parent's number is its own without the lowest set bit; its
// children are 1, 2, 4, ... places above it, up to that bit. Every subtree consists of consecutive places.
struct BinomialTree {
  BinomialTree(int number, int places) : place(number), size(places) {
    while (bit < size && !(place & bit)) bit <<= 1;
  }

  int parent() const { return static_cast<int>(place - bit); }
  // Number of places in the subtree of the child `distance` places above.
  int below(long distance) const { return static_cast<int>(std::min(distance, size - place - distance)); }
  // Number of places in this rank's subtree, including itself.
  int all() const { return static_cast<int>(std::min(bit, size - place)); }

  long place;
  long size;
  long bit = 1;  // the lowest set bit; for place 0, the first power of two that is at least `size`
};

// Folds the ranks onto a power of two of places, the largest possible. The first 2 (P - 2^k) of the P ranks
// form pairs that share a place. The odd rank represents the pair, or the even rank `representative`.
struct Folding {
  explicit Folding(MPI_Comm comm, int even = -1) : representative(even) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    while (power <= size / 2) power *= 2;
    pairs = size - power;
    paired = rank < 2 * pairs;
    partner = paired ? rank ^ 1 : rank;
    place = place_of(rank);
    is_representative = rank_of(place) == rank;
  }

  int rank_of(int place_number) const {
    if (place_number >= pairs) return place_number + pairs;
    return 2 * place_number == representative ? representative : 2 * place_number + 1;
  }
  int place_of(int rank) const { return rank < 2 * pairs ? rank / 2 : rank - pairs; }
  // The first rank of place `place_number`; the ranks of consecutive places are consecutive.
  int first_rank(int place_number) const { return place_number + std::min(place_number, pairs); }

  int representative;
  int rank = 0;
  int size = 1;
  int power = 1;  // number of places
  int pairs = 0;
  bool paired = false;
  int partner = 0;  // the other rank of the same place
  int place = 0;
  bool is_representative = true;  // whether this rank represents its place
};

}  // namespace hockney::coll
