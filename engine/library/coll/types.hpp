// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace hockney::types {

// MPI's own types and operations always exist, so that what was found out about them can be kept; handles of
// others are used again for something else.
bool named(MPI_Datatype type);

// Whether messages may have this type: not MPI_DATATYPE_NULL, and committed.
bool sendable(MPI_Datatype type);

// The bytes of an element, without holes; -1 if messages may not have this type.
int size_of(MPI_Datatype type);

// Whether elements of `type` lie one after another in memory, in the order of their type signature.
bool dense(MPI_Datatype type);

// The last few things that were found out, of each thread: asking MPI again would cost more than the call.
template <class Fact>
class Kept {
 public:
  template <class Wanted>
  const Fact* find(const Wanted& wanted) const {
    for (std::size_t k = 0; k < count_; ++k)
      if (facts_[k].about(wanted)) return &facts_[k];
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

// Without a call for each access, as a library that was loaded later would need it. There are few such bytes.
#define HOCKNEY_KEPT static thread_local constinit __attribute__((tls_model("initial-exec")))

}  // namespace hockney::types
