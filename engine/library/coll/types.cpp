// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "library/coll/types.hpp"

#include "library/coll/arguments.hpp"
#include "library/coll/link.hpp"

namespace hockney::types {
namespace {

struct Known {
  bool matches(MPI_Datatype other) const { return type == other; }

  MPI_Datatype type = {};
  int size = -1;
  bool is_dense = false;
};

bool compute_dense(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0, size = 0;
  MPI_Aint low = 0, extent = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (combiner == MPI_COMBINER_NAMED) {
    PMPI_Type_size(type, &size);
    PMPI_Type_get_extent(type, &low, &extent);
    return size == extent;  // false for the pair types of MPI_MAXLOC
  }
  if (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) return false;
  int count[1];
  MPI_Aint none[1];
  MPI_Datatype inner_type = MPI_DATATYPE_NULL;
  PMPI_Type_get_contents(type, integers, addresses, types, count, none, &inner_type);
  const bool result = is_dense(inner_type);
  if (!is_predefined_type(inner_type)) PMPI_Type_free(&inner_type);
  return result;
}

// Cached facts about a predefined type; null for any other type.
const Known* find_known(MPI_Datatype type) {
  HOCKNEY_KEPT FactCache<Known> kept;
  if (const Known* found = kept.find(type)) return found;
  if (type == MPI_DATATYPE_NULL || !is_predefined_type(type)) return nullptr;
  int size = 0;
  PMPI_Type_size(type, &size);
  return &kept.keep({type, size < 0 ? -1 : size, compute_dense(type)});
}

}  // namespace

bool is_predefined_type(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner == MPI_COMBINER_NAMED;
}

bool is_sendable(MPI_Datatype type) {
  if (find_known(type)) return true;
  if (type == MPI_DATATYPE_NULL) return false;
  if (!is_mpi_started()) return true;  // MPI's own function is called
  char nothing[1] = {};
  int end = 0;
  return PMPI_Pack(nothing, 0, type, nothing, 1, &end, arguments::error_returning_comm()) == MPI_SUCCESS;
}

int size_of(MPI_Datatype type) {
  if (const Known* found = find_known(type)) return found->size;
  if (!is_sendable(type)) return -1;
  int size = 0;
  PMPI_Type_size(type, &size);
  return size < 0 ? -1 : size;
}

bool is_dense(MPI_Datatype type) {
  const Known* const found = find_known(type);
  return found ? found->is_dense : compute_dense(type);
}

}  // namespace hockney::types
