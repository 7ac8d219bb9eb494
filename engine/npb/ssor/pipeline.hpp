// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "npb/flow/division.hpp"
#include "npb/flow/field.hpp"
#include "npb/frame/account.hpp"

namespace hockney::npb::ssor {

// Planes begin to end - 1.
struct Planes {
  int begin;
  int end;
};

// The lower or the upper end of the subgrid, in x and y.
enum class End { lower, upper };

// The messages of a sweep. A rank processes a chunk of planes as soon as it has the values at its border: an
// upward sweep receives at the lower end and sends at the upper one, a downward sweep does the opposite.
class Pipeline {
 public:
  // `planes_per_chunk`: 0 selects the number that suits a message's startup (pipelining.hpp).
  Pipeline(const flow::Division& division, const flow::Subgrid& subgrid, int planes, double startup_points);

  // The number of chunks, the same on all ranks, and their planes.
  int chunks() const { return chunks_; }
  Planes planes(int chunk) const;

  // Receives the ghosts of these planes at this end from the ranks there.
  void receive(Account& account, End end, const Planes& planes);
  void unpack(flow::Field& v, End end, const Planes& planes) const;
  // Packs the outermost own points of these planes at this end for the ranks there.
  void pack(const flow::Field& v, End end, const Planes& planes);
  void send(Account& account, End end, const Planes& planes);

 private:
  // The border in one direction, x or y: the ranks at both ends and the values of one plane's border.
  struct Border {
    std::array<int, 2> ranks;  // -1 if there is none
    flow::Triple length;       // of a plane's border, in points; 1 in this direction and in z
    std::vector<double> received, sent;

    int rank(End end) const { return ranks[end == End::lower ? 0 : 1]; }
    std::size_t values(const Planes& planes) const;
  };

  const flow::Triple size_;
  int chunks_;
  std::array<Border, 2> borders_;
  std::vector<Incoming> incoming_;
};

}  // namespace hockney::npb::ssor
