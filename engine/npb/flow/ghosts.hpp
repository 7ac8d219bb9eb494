// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "npb/flow/field.hpp"
#include "npb/frame/account.hpp"

namespace hockney::npb::flow {

// The exchange of a field's ghost points that belong to other ranks, in both layers of all six faces, not at
// edges and corners. A layer comes from the rank that has it, which is the one next but one where blocks are
// one point thick.
//   compute(0, [&] { ghosts.pack(u); });  ghosts.exchange(account_);  compute(0, [&] { ghosts.unpack(u); });
class Ghosts {
 public:
  explicit Ghosts(const Subgrid& subgrid);

  void pack(const Field& field);
  void exchange(Account& account);
  void unpack(Field& field);

 private:
  // The points from begin to end, and where their values are in the buffer.
  struct Box {
    int rank;
    Triple begin, end;
    std::size_t place, values;
  };
  struct Boxes {
    std::vector<Box> boxes;
    std::vector<double> buffer;

    void add(const Subgrid& subgrid, int rank, std::size_t direction, int begin, int end);
  };

  Boxes sent_, received_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
};

}  // namespace hockney::npb::flow
