// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::scatter {
namespace {

// Down a binomial tree, the farthest child first; each child receives the blocks of all places below it.
int binomial_inner(const Places& at, const BinomialTree& tree, const Blocks& own, MPI_Comm comm) {
  const Elements memory(tree.all() > 1 ? static_cast<long long>(tree.all()) * own.count : 0, own.type);
  const Blocks below(memory.data(), own.count, own.type);
  const BlockMessage whole(tree.all(), own.count, own.type);
  const int error = MPI_Recv(tree.all() > 1 ? below[0] : own[0], whole.count, whole.type,
                             at.rank_of(tree.parent()), tag, comm, MPI_STATUS_IGNORE);
  if (error != MPI_SUCCESS || tree.all() == 1) return error;
  for (long distance = tree.bit >> 1; distance > 0; distance >>= 1) {
    if (at.place + distance >= at.size) continue;
    const BlockMessage message(tree.below(distance), own.count, own.type);
    const int failed = MPI_Send(below[distance], message.count, message.type,
                                at.rank_of(static_cast<int>(at.place + distance)), tag, comm);
    if (failed != MPI_SUCCESS) return failed;
  }
  copy(below, 0, own, 0, 1);
  return MPI_SUCCESS;
}

// A child's blocks belong to consecutive ranks. If these include both the last rank and rank 0, the blocks
// are first assembled in temporary memory.
int binomial_root(const Places& at, const BinomialTree& tree, const Blocks& all, MPI_Comm comm) {
  for (long distance = tree.bit >> 1; distance > 0; distance >>= 1) {
    const int child = at.rank_of(static_cast<int>(distance)), blocks = tree.below(distance);
    const int over = std::max(child + blocks - at.size, 0);
    const Elements memory(over > 0 ? static_cast<long long>(blocks) * all.count : 0, all.type);
    const Blocks apart(memory.data(), all.count, all.type);
    if (over > 0) {
      copy(all, child, apart, 0, blocks - over);
      copy(all, 0, apart, blocks - over, over);
    }
    const BlockMessage message(blocks, all.count, all.type);
    const int error =
        MPI_Send(over > 0 ? apart[0] : all[child], message.count, message.type, child, tag, comm);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

int binomial_call(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
                  MPI_Datatype received_type, int root, MPI_Comm comm) {
  const Places at(comm, root);
  const BinomialTree tree(at.place, at.size);
  if (at.place > 0) return binomial_inner(at, tree, Blocks(incoming, received, received_type), comm);
  const Blocks all(outgoing, sent, sent_type);
  const int error = binomial_root(at, tree, all, comm);
  if (incoming != MPI_IN_PLACE) copy(all, root, Blocks(incoming, received, received_type), 0, 1);
  return error;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::scatter> binomial{
    "binomial", "down a binomial tree, blocks together",
    "Chan, Heimlich, Purkayastha, van de Geijn, Collective Communication: Theory, Practice, and Experience "
    "(2007)",
    binomial_call};

}  // namespace hockney::coll::scatter
