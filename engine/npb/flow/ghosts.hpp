// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "npb/flow/division.hpp"
#include "npb/flow/field.hpp"
#include "npb/frame/account.hpp"

namespace hockney::npb::flow {

// A block of a rank, and a field there.
struct Block {
  const Subgrid* subgrid;
  Field* field;
};

// The exchange of the fields' ghost points that belong to other ranks, in both layers of all six faces, not
// at edges and corners, with one message to each of these ranks. A layer comes from the block that has it,
// which is the one next but one where blocks are one point thick.
//   compute(0, [&] { ghosts.pack(); });  ghosts.exchange(account_);  compute(0, [&] { ghosts.unpack(); });
class Ghosts {
 public:
  // `blocks` are those of `division` that this rank has.
  Ghosts(const Division& division, const std::vector<Block>& blocks);

  void pack();
  void exchange(Account& account);
  void unpack();

 private:
  // The points from begin to end of a field, and where their values are in the buffer.
  struct Box {
    int rank;                            // the other one
    std::pair<Triple, Triple> transfer;  // places of the blocks that receive and send
    Field* field;
    Triple begin, end;
    std::size_t values;
    std::size_t place = 0;
  };
  // Those that are sent or received, by rank and then by transfer: on both sides in the same order.
  struct Boxes {
    std::vector<Box> boxes;
    std::vector<double> buffer;

    void add(const Box& box, const Block& block, std::size_t direction, int begin, int end);
    void order();
    // use(rank, first value, number of values) for the message of each rank.
    template <class Use>
    void each_message(const Use& use);
  };

  Boxes sent_, received_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
};

}  // namespace hockney::npb::flow
