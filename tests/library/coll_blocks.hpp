// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks of ints in the memory of ranks, for coll_check.cpp.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <numeric>
#include <vector>

#define HOLDS(condition)                                           \
  do {                                                             \
    if (!(condition)) {                                            \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                \
    }                                                              \
  } while (false)

namespace {

using Ints = std::vector<int>;

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

// The types that one rank uses for a block of 6 ints: what differs between ranks has the same signature.
struct Layout {
  MPI_Datatype type;
  int count;
  int ints;  // that a block extends over

  static Layout of(int kind) {
    MPI_Datatype type = MPI_INT, inner;
    if (kind == 1) {  // every other int
      MPI_Type_vector(3, 1, 2, MPI_INT, &inner);
      MPI_Type_create_resized(inner, 0, 6 * sizeof(int), &type);
      MPI_Type_free(&inner);
    } else if (kind == 2) {  // backwards, without holes
      const int lengths[] = {1, 1, 1}, places[] = {2, 1, 0};
      MPI_Type_indexed(3, lengths, places, MPI_INT, &type);
    } else if (kind == 3) {
      MPI_Type_contiguous(6, MPI_INT, &type);
    }
    if (kind > 0) MPI_Type_commit(&type);
    return {type, kind == 0 ? 6 : kind == 3 ? 1 : 2, kind == 1 ? 12 : 6};
  }
  void free() {
    if (type != MPI_INT) MPI_Type_free(&type);
  }
};

Ints numbers(int count, int first) {
  Ints made(static_cast<std::size_t>(count) + 1);
  std::iota(made.begin(), made.end(), first);
  return made;
}

}  // namespace
