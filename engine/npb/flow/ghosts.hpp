// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "npb/flow/division.hpp"
#include "npb/flow/field.hpp"
#include "npb/frame/account.hpp"

namespace hockney::npb::flow {

// A block of a rank, and a field on it.
struct Block {
  const Subgrid* subgrid;
  Field* field;
};

// Exchanges the fields' ghost points that belong to other ranks, in both layers of all six faces, not at
// edges and corners, with one message to each of these ranks. A layer comes from the block that contains it,
// which is the next block but one if blocks are one point thick.
//     compute(0, [&] { ghosts.pack(); });
//     ghosts.exchange(account_);
//     compute(0, [&] { ghosts.unpack(); });
class Ghosts {
 public:
  // `blocks` are this rank's blocks in `division`.
  Ghosts(const Division& division, const std::vector<Block>& blocks);

  void pack();
  void exchange(Account& account);
  void unpack();

 private:
  // A range of points of a field, and the location of their values in the buffer.
  struct Box {
    int rank;                            // the other rank
    std::pair<Triple, Triple> transfer;  // places of the receiving and the sending block
    Field* field;
    Triple begin, end;
    std::size_t values;
    std::size_t place = 0;
  };
  // Boxes that are sent or received, by rank and then by transfer: in the same order on both sides.
  struct Boxes {
    std::vector<Box> boxes;
    std::vector<double> buffer;

    void add(const Box& box, const Block& block, std::size_t direction, int begin, int end);
    void order();
    // Calls use(rank, first value, number of values) for the message of each rank.
    template <class Use>
    void for_each_message(const Use& use);
  };

  Boxes send_boxes_, receive_boxes_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
};

}  // namespace hockney::npb::flow
