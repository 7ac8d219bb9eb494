// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll {

// Recursive halving of a vector over a power of two of places, and its reversal (Rabenseifner, Optimization
// of Collective Reduction Operations, 2004). Partners 1, 2, 4, ... places away exchange half of the part that
// they still share. The nearest partner comes first, so 2^k consecutive places have been combined after k
// steps, in order, and the operation need not commute.
class Halving {
 public:
  Halving(const Folding& fold, void* vector, int count, const Combination& combine, MPI_Comm comm)
      : fold_(fold), vector_(vector, 1, combine.type), combine_(combine), comm_(comm), parts_{{0, count}} {}

  // Leaves this place with the reduction of its part. `received_data` has space for half of the vector,
  // rounded up.
  int reduce_scatter(void* received_data) {
    for (int distance = 1; distance < fold_.power; distance *= 2, ++steps_) {
      const Part shared_part = parts_[steps_];
      const int middle = shared_part.first + (shared_part.last - shared_part.first) / 2;
      const bool upper = fold_.place & distance;
      const Part own_part = upper ? Part{middle, shared_part.last} : Part{shared_part.first, middle};
      const Part partner_part = upper ? Part{shared_part.first, middle} : Part{middle, shared_part.last};
      const int partner = fold_.rank_of(fold_.place ^ distance);
      int error = MPI_Sendrecv(vector_[partner_part.first], partner_part.length(), vector_.type, partner, tag,
                               received_data, own_part.length(), vector_.type, partner, tag, comm_,
                               MPI_STATUS_IGNORE);
      if (error == MPI_SUCCESS)
        error = combine_(received_data, vector_[own_part.first], own_part.length(), upper);
      if (error != MPI_SUCCESS) return error;
      parts_[steps_ + 1] = own_part;
    }
    return MPI_SUCCESS;
  }

  // Reverses the halving, after which each place has all parts.
  int allgather() const {
    for (int step = steps_ - 1; step >= 0; --step) {
      const Part own_part = parts_[step + 1], partner_part = part_of_partner(step);
      const int partner = fold_.rank_of(fold_.place ^ (1 << step));
      const int error = MPI_Sendrecv(vector_[own_part.first], own_part.length(), vector_.type, partner, tag,
                                     vector_[partner_part.first], partner_part.length(), vector_.type,
                                     partner, tag, comm_, MPI_STATUS_IGNORE);
      if (error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
  }

  // Reverses the halving towards a single place, up a binomial tree, after which that place has all parts.
  int gather(int place) const {
    for (int step = steps_ - 1; step >= 0; --step) {
      const Part own_part = parts_[step + 1], partner_part = part_of_partner(step);
      const int bit = 1 << step, partner = fold_.rank_of(fold_.place ^ bit);
      if ((fold_.place ^ place) & bit)
        return MPI_Send(vector_[own_part.first], own_part.length(), vector_.type, partner, tag, comm_);
      const int error = MPI_Recv(vector_[partner_part.first], partner_part.length(), vector_.type, partner,
                                 tag, comm_, MPI_STATUS_IGNORE);
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

  // The part that the partner had after `step`.
  Part part_of_partner(int step) const {
    const Part shared_part = parts_[step], own_part = parts_[step + 1];
    return own_part.first == shared_part.first ? Part{own_part.last, shared_part.last}
                                               : Part{shared_part.first, own_part.first};
  }

  const Folding& fold_;
  const Blocks vector_;
  const Combination& combine_;
  const MPI_Comm comm_;
  int steps_ = 0;
  Part parts_[32];  // before the first step, and after each step
};

}  // namespace hockney::coll
