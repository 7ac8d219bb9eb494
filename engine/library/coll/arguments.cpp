// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "library/coll/arguments.hpp"

#include "comm/rank_state.hpp"
#include "library/coll/types.hpp"

namespace hockney::arguments {
namespace {

// Not MPI_Comm_dup, which would call the program's copy functions.
struct ErrorReturningComm {
  ErrorReturningComm() {
    PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &comm);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  ErrorReturningComm(const ErrorReturningComm&) = delete;
  ErrorReturningComm& operator=(const ErrorReturningComm&) = delete;
  ~ErrorReturningComm() { PMPI_Comm_free(&comm); }

  MPI_Comm comm = MPI_COMM_NULL;
};

// Whether elements follow each other towards lower addresses. MPI implementations handle these differently.
bool is_descending(MPI_Datatype type) {
  MPI_Aint low = 0, extent = 0;
  PMPI_Type_get_extent(type, &low, &extent);
  return extent < 0;
}

bool is_predefined(MPI_Op op) {
  for (const MPI_Op each : {MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR,
                            MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP})
    if (op == each) return true;
  return false;
}

// Whether MPI defines no result. Open MPI accepts such calls, and its result depends on the order.
bool is_undefined(MPI_Op op, MPI_Datatype type) {
  const bool bitwise = op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR;
  return type == MPI_CHAR || type == MPI_WCHAR || (type == MPI_BYTE && !bitwise);
}

// A predefined operation and a named type that it can combine.
struct Combined {
  bool matches(const Combined& other) const { return op == other.op && type == other.type; }

  MPI_Op op = {};
  MPI_Datatype type = {};
};

}  // namespace

MPI_Comm error_returning_comm() {
  return RankState<ErrorReturningComm>::get().comm;
}

bool can_combine(MPI_Op op, MPI_Datatype type) {
  HOCKNEY_KEPT types::FactCache<Combined> kept;
  if (kept.find(Combined{op, type})) return true;
  if (op == MPI_OP_NULL || !types::is_sendable(type)) return false;
  if (!is_predefined(op)) return !is_descending(type);
  if (is_undefined(op, type)) return false;
  double own[4] = {}, result[4] = {};
  if (PMPI_Allreduce(own, result, 0, type, op, error_returning_comm()) != MPI_SUCCESS) return false;
  if (types::is_predefined_type(type)) kept.keep({op, type});
  return true;
}

bool separate(const void* outgoing, MPI_Datatype sent, const void* incoming, MPI_Datatype received) {
  if (separate(outgoing, incoming)) return true;
  if (incoming == MPI_IN_PLACE || sent == received) return false;
  const bool valid = types::is_sendable(sent) && types::is_sendable(received);
  return valid && !(types::is_predefined_type(sent) && types::is_predefined_type(received));
}

long long bytes_of(int count, MPI_Datatype type) {
  const int size = types::size_of(type);
  return count < 0 || size < 0 ? -1 : static_cast<long long>(size) * count;
}

}  // namespace hockney::arguments
