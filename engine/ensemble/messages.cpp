// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "ensemble/messages.hpp"

#include <cstddef>

namespace hockney::annealing {
namespace {

// Makes a struct type of `doubles` doubles, followed by ints; its extent is `bytes`, so that it can be used
// in arrays.
MPI_Datatype make_struct_type(int doubles, int ints, MPI_Aint ints_offset, MPI_Aint bytes) {
  const int counts[] = {doubles, ints};
  const MPI_Aint places[] = {0, ints_offset};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT};
  MPI_Datatype fields = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, counts, places, types, &fields);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(fields, 0, bytes, &type);
  MPI_Type_free(&fields);
  MPI_Type_commit(&type);
  return type;
}

}  // namespace

MessageTypes::MessageTypes()
    : schedule(make_struct_type(1, 2, offsetof(Schedule, steps), sizeof(Schedule))),
      statistics(make_struct_type(4, 1, offsetof(Statistics, accepted), sizeof(Statistics))) {}

MessageTypes::~MessageTypes() {
  MPI_Type_free(&schedule);
  MPI_Type_free(&statistics);
}

}  // namespace hockney::annealing
