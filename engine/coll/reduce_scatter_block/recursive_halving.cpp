// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "coll/algorithm.hpp"
#include "coll/elements.hpp"
#include "coll/places.hpp"

namespace hockney::coll::reduce_scatter_block {
namespace {

// Partners 1, 2, 4, ... places apart send each other half of the blocks that they still share. Since the
// nearest partner comes first, 2^k consecutive places are combined after k steps, and operations need not
// commute. The blocks are kept in bit-reversed order of the places, so that each half is contiguous. If P is
// not a power of two, some places consist of two ranks: the even rank sends its vector to the odd one, and
// receives its block from it.
class RecursiveHalving {
 public:
  RecursiveHalving(const void* vector, int receive_count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
      : fold_(comm),
        combine_(type, op),
        comm_(comm),
        length_(receive_count),
        memory_(static_cast<long long>(fold_.size) * receive_count, type),
        incoming_(fold_.is_representative ? static_cast<long long>(fold_.size) * receive_count : 0, type),
        blocks_(memory_.data(), receive_count, type) {
    const Blocks blocks(vector, receive_count, type);
    starts_.reserve(static_cast<std::size_t>(fold_.power) + 1);
    int start = 0;
    for (int position = 0, reversed = 0; position < fold_.power; ++position) {
      const int rank = fold_.first_rank(reversed), ranks = fold_.first_rank(reversed + 1) - rank;
      copy(blocks, rank, blocks_, start, ranks);
      starts_.push_back(start);
      start += ranks;
      // adds 1 at the other end
      int bit = fold_.power >> 1;
      for (; reversed & bit; bit >>= 1) reversed ^= bit;
      reversed |= bit;
    }
    starts_.push_back(start);
  }

  int run(void* result) {
    if (!fold_.is_representative) {
      const int error = send(0, fold_.size, fold_.partner);
      if (error != MPI_SUCCESS) return error;
      return MPI_Recv(result, length_, blocks_.type, fold_.partner, tag, comm_, MPI_STATUS_IGNORE);
    }
    int error = MPI_SUCCESS;
    if (fold_.paired) {
      const BlockMessage all(fold_.size, length_, blocks_.type);
      error = MPI_Recv(incoming_.data(), all.count, all.type, fold_.partner, tag, comm_, MPI_STATUS_IGNORE);
      if (error == MPI_SUCCESS) error = combine(0, fold_.size, true);
    }
    int first = 0, last = fold_.power;
    for (int distance = 1; distance < fold_.power && error == MPI_SUCCESS; distance *= 2) {
      const int middle = (first + last) / 2;
      const bool upper = fold_.place & distance;
      const int partner = fold_.rank_of(fold_.place ^ distance);
      error = upper ? exchange(first, middle, middle, last, partner)
                    : exchange(middle, last, first, middle, partner);
      (upper ? first : last) = middle;
      if (error == MPI_SUCCESS) error = combine(start(first), start(last), upper);
    }
    if (fold_.paired && error == MPI_SUCCESS) error = send(start(first), start(first) + 1, fold_.partner);
    if (error == MPI_SUCCESS)
      copy(blocks_[start(first) + (fold_.paired ? 1 : 0)], result, length_, blocks_.type);
    return error;
  }

 private:
  int start(int position) const { return starts_[static_cast<std::size_t>(position)]; }

  int send(int first, int last, int to) const {
    const BlockMessage message(last - first, length_, blocks_.type);
    return MPI_Send(blocks_[first], message.count, message.type, to, tag, comm_);
  }

  // Sends the positions from `send_begin` to `send_end`, and receives those from `receive_begin` to
  // `receive_end` into separate memory.
  int exchange(int send_begin, int send_end, int receive_begin, int receive_end, int partner) const {
    const BlockMessage out(start(send_end) - start(send_begin), length_, blocks_.type);
    const BlockMessage incoming(start(receive_end) - start(receive_begin), length_, blocks_.type);
    return MPI_Sendrecv(blocks_[start(send_begin)], out.count, out.type, partner, tag, incoming_.data(),
                        incoming.count, incoming.type, partner, tag, comm_, MPI_STATUS_IGNORE);
  }

  // Combines the received data into the blocks from `first` to `last`.
  int combine(int first, int last, bool from_lower_ranks) const {
    const Blocks receive_count(incoming_.data(), length_, blocks_.type);
    const long long elements = static_cast<long long>(last - first) * length_;
    if (elements <= INT_MAX)
      return combine_(receive_count[0], blocks_[first], static_cast<int>(elements), from_lower_ranks);
    int error = MPI_SUCCESS;
    for (int block = first; block < last && error == MPI_SUCCESS; ++block)
      error = combine_(receive_count[block - first], blocks_[block], length_, from_lower_ranks);
    return error;
  }

  const Folding fold_;
  const Combination combine_;
  const MPI_Comm comm_;
  const int length_;
  const Elements memory_, incoming_;
  const Blocks blocks_;
  std::vector<int> starts_;  // the first block of each position
};

int recursive_halving_call(const void* outgoing, void* incoming, int receive_count, MPI_Datatype type,
                           MPI_Op op, MPI_Comm comm) {
  return RecursiveHalving(outgoing == MPI_IN_PLACE ? incoming : outgoing, receive_count, type, op, comm)
      .run(incoming);
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::reduce_scatter_block> recursive_halving{
    "recursive_halving", "halves of the blocks to partners 1, 2, 4, ... ranks away",
    "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005), 4.4; "
    "Traff, An Improved Algorithm for (Non-commutative) Reduce-Scatter with an Application (2005)",
    recursive_halving_call};

}  // namespace hockney::coll::reduce_scatter_block
