// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "library/coll/arguments.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "comm/rank_state.hpp"
#include "library/coll/link.hpp"

namespace hockney::arguments {
namespace {

// Not MPI_Comm_dup, which would call the program's copy functions.
struct OwnErrors {
  OwnErrors() {
    PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &comm);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  OwnErrors(const OwnErrors&) = delete;
  OwnErrors& operator=(const OwnErrors&) = delete;
  ~OwnErrors() { PMPI_Comm_free(&comm); }

  MPI_Comm comm = MPI_COMM_NULL;
};

// MPI's own types always exist, so that answers about them can be kept; handles of others are used again.
bool named(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner == MPI_COMBINER_NAMED;
}

// Whether elements follow each other towards lower addresses. MPIs differ in what they make of that.
bool backwards(MPI_Datatype type) {
  MPI_Aint low = 0, extent = 0;
  PMPI_Type_get_extent(type, &low, &extent);
  return extent < 0;
}

bool predefined(MPI_Op op) {
  for (const MPI_Op each : {MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR,
                            MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP})
    if (op == each) return true;
  return false;
}

// The last few keys for which the answer was yes, of each thread.
template <class Key>
class Confirmed {
 public:
  bool has(const Key& key) const {
    return std::find(kept_.begin(), kept_.begin() + count_, key) != kept_.begin() + count_;
  }
  void keep(const Key& key) {
    kept_[next_] = key;
    next_ = (next_ + 1) % kept_.size();
    count_ = std::max<std::ptrdiff_t>(count_, static_cast<std::ptrdiff_t>(next_ ? next_ : kept_.size()));
  }

 private:
  std::array<Key, 8> kept_ = {};
  std::size_t next_ = 0;
  std::ptrdiff_t count_ = 0;
};

struct Combined {
  MPI_Op op = MPI_OP_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  bool operator==(const Combined&) const = default;
};

}  // namespace

MPI_Comm own_errors() {
  return RankState<OwnErrors>::get().comm;
}

bool sendable(MPI_Datatype type) {
  static thread_local Confirmed<MPI_Datatype> confirmed;
  if (type == MPI_DATATYPE_NULL) return false;
  if (confirmed.has(type)) return true;
  if (named(type)) {
    confirmed.keep(type);
    return true;
  }
  if (!started()) return true;  // and MPI's own function is called
  char nothing[1] = {};
  int end = 0;
  return PMPI_Pack(nothing, 0, type, nothing, 1, &end, own_errors()) == MPI_SUCCESS;
}

bool combines(MPI_Op op, MPI_Datatype type) {
  static thread_local Confirmed<Combined> confirmed;
  if (op == MPI_OP_NULL || type == MPI_DATATYPE_NULL) return false;
  if (!predefined(op)) return sendable(type) && !backwards(type);
  if (confirmed.has({op, type})) return true;
  if (!sendable(type)) return false;
  double own[4] = {}, result[4] = {};
  if (PMPI_Allreduce(own, result, 0, type, op, own_errors()) != MPI_SUCCESS) return false;
  if (named(type)) confirmed.keep({op, type});
  return true;
}

long long bytes_of(int count, MPI_Datatype type) {
  if (count < 0 || !sendable(type)) return -1;
  int size = 0;
  PMPI_Type_size(type, &size);
  return size < 0 ? -1 : static_cast<long long>(size) * count;
}

}  // namespace hockney::arguments
