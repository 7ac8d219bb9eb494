// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll {

// Recursive halving of a vector by a power of two of places, and what joins it again (Rabenseifner,
// Optimization of Collective Reduction Operations, 2004). Partners 1, 2, 4, ... places away each hand over
// half of the part that they still have in common. The nearest are first, so 2^k places that follow one
// another have been combined after k steps, in their order: the operation need not commute.
class Halving {
 public:
  Halving(const Folding& fold, void* vector, int count, const Combination& combine, MPI_Comm comm)
      : fold_(fold), vector_(vector, 1, combine.type), combine_(combine), comm_(comm), parts_{{0, count}} {}

  // Afterwards this place has the reduction of its part. `received` has room for half of the vector, rounded
  // up.
  int reduce_scatter(void* received) {
    for (int distance = 1; distance < fold_.power; distance *= 2, ++steps_) {
      const Part whole = parts_[steps_];
      const int middle = whole.first + (whole.last - whole.first) / 2;
      const bool upper = fold_.place & distance;
      const Part own = upper ? Part{middle, whole.last} : Part{whole.first, middle};
      const Part others = upper ? Part{whole.first, middle} : Part{middle, whole.last};
      const int partner = fold_.rank_of(fold_.place ^ distance);
      int error = MPI_Sendrecv(vector_[others.first], others.length(), vector_.type, partner, tag, received,
                               own.length(), vector_.type, partner, tag, comm_, MPI_STATUS_IGNORE);
      if (error == MPI_SUCCESS) error = combine_(received, vector_[own.first], own.length(), upper);
      if (error != MPI_SUCCESS) return error;
      parts_[steps_ + 1] = own;
    }
    return MPI_SUCCESS;
  }

  // The way back: afterwards each place has all parts.
  int allgather() const {
    for (int step = steps_ - 1; step >= 0; --step) {
      const Part own = parts_[step + 1], others = rest(step);
      const int partner = fold_.rank_of(fold_.place ^ (1 << step));
      const int error =
          MPI_Sendrecv(vector_[own.first], own.length(), vector_.type, partner, tag, vector_[others.first],
                       others.length(), vector_.type, partner, tag, comm_, MPI_STATUS_IGNORE);
      if (error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
  }

  // The way back towards one place only, up a binomial tree: afterwards it has all parts.
  int gather(int place) const {
    for (int step = steps_ - 1; step >= 0; --step) {
      const Part own = parts_[step + 1], others = rest(step);
      const int bit = 1 << step, partner = fold_.rank_of(fold_.place ^ bit);
      if ((fold_.place ^ place) & bit)
        return MPI_Send(vector_[own.first], own.length(), vector_.type, partner, tag, comm_);
      const int error = MPI_Recv(vector_[others.first], others.length(), vector_.type, partner, tag, comm_,
                                 MPI_STATUS_IGNORE);
      if (error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
  }

 private:
  struct Part {
    int first = 0;
    int last = 0;
    int length() const { return last - first; }
  };

  // What the partner of a step had after it.
  Part rest(int step) const {
    const Part whole = parts_[step], own = parts_[step + 1];
    return own.first == whole.first ? Part{own.last, whole.last} : Part{whole.first, own.first};
  }

  const Folding& fold_;
  const Blocks vector_;
  const Combination& combine_;
  const MPI_Comm comm_;
  int steps_ = 0;
  Part parts_[32];  // before the first step, and after each
};

}  // namespace hockney::coll
