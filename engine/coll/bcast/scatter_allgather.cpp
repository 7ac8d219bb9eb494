// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::bcast {
namespace {

// Part p of the vector belongs to place p. The parts are scattered down a binomial tree, where each place
// receives the parts of all places below it, and then travel round a ring: ceil(log2 P) + P - 1 steps.
class ScatterAllgather {
 public:
  ScatterAllgather(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm)
      : places_(comm, root), vector_(data, 1, type), parts_{count, places_.size}, comm_(comm) {}

  int run() const {
    const int error = scatter();
    return error == MPI_SUCCESS ? allgather() : error;
  }

 private:
  int scatter() const {
    const BinomialTree tree(places_.place, places_.size);
    if (places_.place > 0) {
      const int error = MPI_Recv(part(places_.place), parts_.length(places_.place, tree.all()), vector_.type,
                                 places_.rank_of(tree.parent()), tag, comm_, MPI_STATUS_IGNORE);
      if (error != MPI_SUCCESS) return error;
    }
    for (long distance = tree.bit >> 1; distance > 0; distance >>= 1) {
      if (places_.place + distance >= places_.size) continue;
      const int child = static_cast<int>(places_.place + distance);
      const int error = MPI_Send(part(child), parts_.length(child, tree.below(distance)), vector_.type,
                                 places_.rank_of(child), tag, comm_);
      if (error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
  }

  int allgather() const {
    const int right = places_.rank_of(places_.place + 1), left = places_.rank_of(places_.place - 1);
    for (int step = 0; step + 1 < places_.size; ++step) {
      const int going = (places_.place - step + places_.size) % places_.size;
      const int coming = (going + places_.size - 1) % places_.size;
      const int error =
          MPI_Sendrecv(part(going), parts_.length(going), vector_.type, right, tag, part(coming),
                       parts_.length(coming), vector_.type, left, tag, comm_, MPI_STATUS_IGNORE);
      if (error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
  }

  void* part(int place) const { return vector_[parts_.first(place)]; }

  const Places places_;
  const Blocks vector_;
  const Parts parts_;
  const MPI_Comm comm_;
};

int scatter_allgather_call(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return ScatterAllgather(data, count, type, root, comm).run();
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::bcast> scatter_allgather{
    "scatter_allgather", "parts down a binomial tree, then round a ring",
    "Barnett et al., Interprocessor Collective Communication Library (1994); "
    "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005), 4.2",
    scatter_allgather_call};

}  // namespace hockney::coll::bcast
