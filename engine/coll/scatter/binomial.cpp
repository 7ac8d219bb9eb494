// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::scatter {
namespace {

// Sends down a binomial tree, farthest child first; each child receives the blocks of its whole subtree.
int binomial_inner(const Places& places, const BinomialTree& tree, const Blocks& own, MPI_Comm comm) {
  const Elements memory(tree.all() > 1 ? static_cast<long long>(tree.all()) * own.count : 0, own.type);
  const Blocks subtree_blocks(memory.data(), own.count, own.type);
  const BlockMessage whole(tree.all(), own.count, own.type);
  const int error = MPI_Recv(tree.all() > 1 ? subtree_blocks[0] : own[0], whole.count, whole.type,
                             places.rank_of(tree.parent()), tag, comm, MPI_STATUS_IGNORE);
  if (error != MPI_SUCCESS || tree.all() == 1) return error;
  for (long distance = tree.bit >> 1; distance > 0; distance >>= 1) {
    if (places.place + distance >= places.size) continue;
    const BlockMessage message(tree.below(distance), own.count, own.type);
    const int send_error = MPI_Send(subtree_blocks[distance], message.count, message.type,
                                    places.rank_of(static_cast<int>(places.place + distance)), tag, comm);
    if (send_error != MPI_SUCCESS) return send_error;
  }
  copy(subtree_blocks, 0, own, 0, 1);
  return MPI_SUCCESS;
}

// A child's blocks belong to consecutive ranks. If these include both the last rank and rank 0, the blocks
// are first assembled in temporary memory.
int binomial_root(const Places& places, const BinomialTree& tree, const Blocks& all, MPI_Comm comm) {
  for (long distance = tree.bit >> 1; distance > 0; distance >>= 1) {
    const int child = places.rank_of(static_cast<int>(distance)), blocks = tree.below(distance);
    const int wrapped_blocks = std::max(child + blocks - places.size, 0);
    const Elements memory(wrapped_blocks > 0 ? static_cast<long long>(blocks) * all.count : 0, all.type);
    const Blocks staged_blocks(memory.data(), all.count, all.type);
    if (wrapped_blocks > 0) {
      copy(all, child, staged_blocks, 0, blocks - wrapped_blocks);
      copy(all, 0, staged_blocks, blocks - wrapped_blocks, wrapped_blocks);
    }
    const BlockMessage message(blocks, all.count, all.type);
    const int error = MPI_Send(wrapped_blocks > 0 ? staged_blocks[0] : all[child], message.count,
                               message.type, child, tag, comm);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

int binomial_call(const void* outgoing, int send_count, MPI_Datatype send_type, void* incoming,
                  int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm) {
  const Places places(comm, root);
  const BinomialTree tree(places.place, places.size);
  if (places.place > 0)
    return binomial_inner(places, tree, Blocks(incoming, receive_count, receive_type), comm);
  const Blocks all(outgoing, send_count, send_type);
  const int error = binomial_root(places, tree, all, comm);
  if (incoming != MPI_IN_PLACE) copy(all, root, Blocks(incoming, receive_count, receive_type), 0, 1);
  return error;
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::scatter> binomial{
    "binomial", "down a binomial tree, blocks together",
    "Chan, Heimlich, Purkayastha, van de Geijn, Collective Communication: Theory, Practice, and Experience "
    "(2007)",
    binomial_call};

}  // namespace hockney::coll::scatter
