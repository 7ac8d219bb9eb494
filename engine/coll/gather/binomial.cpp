// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::gather {
namespace {

// Up a binomial tree, the nearest child first; each child sends the blocks of all places below it.
int binomial_inner(const Places& at, const BinomialTree& tree, const Blocks& own, MPI_Comm comm) {
  const Elements memory(tree.all() > 1 ? static_cast<long long>(tree.all()) * own.count : 0, own.type);
  const Blocks below(memory.data(), own.count, own.type);
  if (tree.all() > 1) copy(own, 0, below, 0, 1);
  for (long distance = 1; distance < tree.bit && at.place + distance < at.size; distance <<= 1) {
    const BlockMessage message(tree.below(distance), own.count, own.type);
    const int error =
        MPI_Recv(below[distance], message.count, message.type,
                 at.rank_of(static_cast<int>(at.place + distance)), tag, comm, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
  }
  const BlockMessage message(tree.all(), own.count, own.type);
  return MPI_Send(tree.all() > 1 ? below[0] : own[0], message.count, message.type, at.rank_of(tree.parent()),
                  tag, comm);
}

// A child's blocks belong to consecutive ranks. If these include both the last rank and rank 0, the blocks
// are first received into temporary memory.
int binomial_root(const Places& at, const BinomialTree& tree, const Blocks& all, MPI_Comm comm) {
  for (long distance = 1; distance < at.size; distance <<= 1) {
    const int child = at.rank_of(static_cast<int>(distance)), blocks = tree.below(distance);
    const int over = std::max(child + blocks - at.size, 0);
    const Elements memory(over > 0 ? static_cast<long long>(blocks) * all.count : 0, all.type);
    const Blocks apart(memory.data(), all.count, all.type);
    const BlockMessage message(blocks, all.count, all.type);
    const int error = MPI_Recv(over > 0 ? apart[0] : all[child], message.count, message.type, child, tag,
                               comm, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
    if (over == 0) continue;
    copy(apart, 0, all, child, blocks - over);
    copy(apart, blocks - over, all, 0, over);
  }
  return MPI_SUCCESS;
}

int binomial_call(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
                  MPI_Datatype received_type, int root, MPI_Comm comm) {
  const Places at(comm, root);
  const BinomialTree tree(at.place, at.size);
  if (at.place > 0) return binomial_inner(at, tree, Blocks(outgoing, sent, sent_type), comm);
  const Blocks all(incoming, received, received_type);
  if (outgoing != MPI_IN_PLACE) copy(Blocks(outgoing, sent, sent_type), 0, all, root, 1);
  return binomial_root(at, tree, all, comm);
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::gather> binomial{
    "binomial", "up a binomial tree, blocks together",
    "Chan, Heimlich, Purkayastha, van de Geijn, Collective Communication: Theory, Practice, and Experience "
    "(2007)",
    binomial_call};

}  // namespace hockney::coll::gather
