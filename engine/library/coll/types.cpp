// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "library/coll/types.hpp"

#include "library/coll/arguments.hpp"
#include "library/coll/link.hpp"

namespace hockney::types {
namespace {

struct Known {
  bool about(MPI_Datatype other) const { return type == other; }

  MPI_Datatype type = {};
  int size = -1;
  bool dense = false;
};

bool found_dense(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0, size = 0;
  MPI_Aint low = 0, extent = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (combiner == MPI_COMBINER_NAMED) {
    PMPI_Type_size(type, &size);
    PMPI_Type_get_extent(type, &low, &extent);
    return size == extent;  // not so of the pairs of MPI_MAXLOC
  }
  if (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) return false;
  int count[1];
  MPI_Aint none[1];
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  PMPI_Type_get_contents(type, integers, addresses, types, count, none, &inner);
  const bool result = dense(inner);
  if (!named(inner)) PMPI_Type_free(&inner);
  return result;
}

// What is kept of a named type; null for any other.
const Known* known(MPI_Datatype type) {
  HOCKNEY_KEPT Kept<Known> kept;
  if (const Known* found = kept.find(type)) return found;
  if (type == MPI_DATATYPE_NULL || !named(type)) return nullptr;
  int size = 0;
  PMPI_Type_size(type, &size);
  return &kept.keep({type, size < 0 ? -1 : size, found_dense(type)});
}

}  // namespace

bool named(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner == MPI_COMBINER_NAMED;
}

bool sendable(MPI_Datatype type) {
  if (known(type)) return true;
  if (type == MPI_DATATYPE_NULL) return false;
  if (!started()) return true;  // and MPI's own function is called
  char nothing[1] = {};
  int end = 0;
  return PMPI_Pack(nothing, 0, type, nothing, 1, &end, arguments::own_errors()) == MPI_SUCCESS;
}

int size_of(MPI_Datatype type) {
  if (const Known* found = known(type)) return found->size;
  if (!sendable(type)) return -1;
  int size = 0;
  PMPI_Type_size(type, &size);
  return size < 0 ? -1 : size;
}

bool dense(MPI_Datatype type) {
  const Known* const found = known(type);
  return found ? found->dense : found_dense(type);
}

}  // namespace hockney::types
