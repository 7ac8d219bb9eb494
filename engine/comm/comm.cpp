// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/comm.hpp"

#include <climits>

namespace hockney {

Comm Comm::duplicate(MPI_Comm parent) {
  Comm comm;
#ifdef HOCKNEY_SMPI
  comm.handle = parent;
#else
  MPI_Comm_dup(parent, &comm.handle);
#endif
  MPI_Comm_rank(comm.handle, &comm.rank);
  MPI_Comm_size(comm.handle, &comm.size);
  return comm;
}

void Comm::release() {
#ifndef HOCKNEY_SMPI
  MPI_Comm_free(&handle);
#endif
}

bool Comm::all(bool mine) const {
  int value = mine ? 1 : 0;
  MPI_Reduce(root() ? MPI_IN_PLACE : &value, &value, 1, MPI_INT, MPI_MIN, 0, handle);
  broadcast(value);
  return value != 0;
}

void Comm::sum_each(std::uint64_t* values, int count) const {
  MPI_Reduce(root() ? MPI_IN_PLACE : values, values, count, MPI_UINT64_T, MPI_SUM, 0, handle);
  MPI_Bcast(values, count, MPI_UINT64_T, 0, handle);
}

double Comm::longest(double mine) const {
  longest_each(&mine, 1);
  return mine;
}

void Comm::longest_each(double* values, int count) const {
  MPI_Reduce(root() ? MPI_IN_PLACE : values, values, count, MPI_DOUBLE, MPI_MAX, 0, handle);
}

Block::Block(std::uint64_t size) : bytes(size) {
  if (bytes <= INT_MAX) {
    count = static_cast<int>(bytes);
    return;
  }
  // Chunks of 64 MiB and what is left over: one element of a struct type, whose extent is exactly `bytes`.
  constexpr int chunk = 64 << 20;
  const int chunks = static_cast<int>(bytes / chunk);
  const int rest = static_cast<int>(bytes % chunk);
  MPI_Datatype chunk_type;
  MPI_Type_contiguous(chunk, MPI_BYTE, &chunk_type);
  const int lengths[] = {chunks, rest};
  const MPI_Aint displacements[] = {0, static_cast<MPI_Aint>(chunks) * chunk};
  const MPI_Datatype types[] = {chunk_type, MPI_BYTE};
  MPI_Type_create_struct(2, lengths, displacements, types, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&chunk_type);
  count = 1;
}

Block::~Block() {
  if (type != MPI_BYTE) MPI_Type_free(&type);
}

}  // namespace hockney
