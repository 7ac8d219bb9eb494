// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::gather {
namespace {

// Receives up a binomial tree, nearest child first; each child sends the blocks of its whole subtree.
int binomial_inner(const Places& places, const BinomialTree& tree, const Blocks& own, MPI_Comm comm) {
  const Elements memory(tree.all() > 1 ? static_cast<long long>(tree.all()) * own.count : 0, own.type);
  const Blocks subtree_blocks(memory.data(), own.count, own.type);
  if (tree.all() > 1) copy(own, 0, subtree_blocks, 0, 1);
  for (long distance = 1; distance < tree.bit && places.place + distance < places.size; distance <<= 1) {
    const BlockMessage message(tree.below(distance), own.count, own.type);
    const int error =
        MPI_Recv(subtree_blocks[distance], message.count, message.type,
                 places.rank_of(static_cast<int>(places.place + distance)), tag, comm, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
  }
  const BlockMessage message(tree.all(), own.count, own.type);
  return MPI_Send(tree.all() > 1 ? subtree_blocks[0] : own[0], message.count, message.type,
                  places.rank_of(tree.parent()), tag, comm);
}

// A child's blocks belong to consecutive ranks. If these include both the last rank and rank 0, the blocks
// are first received into temporary memory.
int binomial_root(const Places& places, const BinomialTree& tree, const Blocks& all, MPI_Comm comm) {
  for (long distance = 1; distance < places.size; distance <<= 1) {
    const int child = places.rank_of(static_cast<int>(distance)), blocks = tree.below(distance);
    const int wrapped_blocks = std::max(child + blocks - places.size, 0);
    const Elements memory(wrapped_blocks > 0 ? static_cast<long long>(blocks) * all.count : 0, all.type);
    const Blocks staged_blocks(memory.data(), all.count, all.type);
    const BlockMessage message(blocks, all.count, all.type);
    const int error = MPI_Recv(wrapped_blocks > 0 ? staged_blocks[0] : all[child], message.count,
                               message.type, child, tag, comm, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
    if (wrapped_blocks == 0) continue;
    copy(staged_blocks, 0, all, child, blocks - wrapped_blocks);
    copy(staged_blocks, blocks - wrapped_blocks, all, 0, wrapped_blocks);
  }
  return MPI_SUCCESS;
}

int binomial_call(const void* outgoing, int send_count, MPI_Datatype send_type, void* incoming,
                  int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm) {
  const Places places(comm, root);
  const BinomialTree tree(places.place, places.size);
  if (places.place > 0) return binomial_inner(places, tree, Blocks(outgoing, send_count, send_type), comm);
  const Blocks all(incoming, receive_count, receive_type);
  if (outgoing != MPI_IN_PLACE) copy(Blocks(outgoing, send_count, send_type), 0, all, root, 1);
  return binomial_root(places, tree, all, comm);
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::gather> binomial{
    "binomial", "up a binomial tree, blocks together",
    "Chan, Heimlich, Purkayastha, van de Geijn, Collective Communication: Theory, Practice, and Experience "
    "(2007)",
    binomial_call};

}  // namespace hockney::coll::gather
