// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace hockney::types {

// Whether the type is predefined. Predefined types and operations always exist, so facts about them can be
// cached; handles of others may be reused.
bool is_predefined_type(MPI_Datatype type);

// Whether messages may have this type: it is not MPI_DATATYPE_NULL, and it is committed.
bool is_sendable(MPI_Datatype type);

// Size of an element in bytes, without holes; -1 if messages may not have this type.
int size_of(MPI_Datatype type);

// Whether elements of `type` lie one after another in memory, in the order of their type signature.
bool is_dense(MPI_Datatype type);

// Each thread's most recent facts: asking MPI again would take longer than the call.
template <class Fact>
class FactCache {
 public:
  template <class Query>
  const Fact* find(const Query& query) const {
    for (std::size_t k = 0; k < count_; ++k)
      if (facts_[k].matches(query)) return &facts_[k];
    return nullptr;
  }
  const Fact& keep(const Fact& fact) {
    Fact& place = facts_[next_];
    next_ = (next_ + 1) % facts_.size();
    count_ = std::max(count_, next_ ? next_ : facts_.size());
    return place = fact;
  }

 private:
  std::array<Fact, 4> facts_ = {};
  std::size_t next_ = 0, count_ = 0;
};

// Avoids a function call for each access, which a library loaded later would need. Such variables must be
// small.
#define HOCKNEY_KEPT static thread_local constinit __attribute__((tls_model("initial-exec")))

}  // namespace hockney::types
