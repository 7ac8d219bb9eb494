// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/payload.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/counts.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"
#include "neighborhood/topology.hpp"

namespace hockney::neighborhood {

// Locations of all neighbors' blocks in a buffer, one after another: counts and displacements as MPI takes
// them, in the units of `Counts`.
struct Blocks {
  std::vector<int> counts;
  std::vector<int> displacements;
  int total = 0;

  void add(int count) {
    counts.push_back(count);
    displacements.push_back(total);
    total += count;
  }
};

// Base class of calls with blocks of different sizes. `counts` gives the size of the block from rank a to
// rank b by the sender if it sends the same block to all its neighbors, and by the receiver if it sends
// different ones. Two blocks between the same ranks are therefore alike, whichever comes first.
class VectorBase : public Workload {
 public:
  void prepare(int) override { topology_.create(); }
  bool keeps_payload() const override { return outgoing_.slots() == 1 && incoming_.slots() == 1; }
  // The mean over the ranks.
  std::uint64_t bytes_moved() const override { return mean_ * neighbors(); }

  void fill(const Payload& payload) override {
    const Payload part = payload.divided_among(neighbors());
    if (!sends_separate_blocks_) {
      write_bytes(outgoing_.upcoming(), part, number(comm_.rank, comm_.rank));
    } else {
      for (std::size_t at = 0; at < neighbors(); ++at)
        write_bytes(block(outgoing_.upcoming(), send_blocks_, at), part,
                    number(comm_.rank, topology_.destinations()[at]));
    }
    for (std::size_t at = 0; at < neighbors(); ++at)
      spoil(block(incoming_.upcoming(), receive_blocks_, at), part);
  }
  Check verify(const Payload& payload) override {
    Check all;
    const Payload part = payload.divided_among(neighbors());
    for (std::size_t at = 0; at < neighbors(); ++at) {
      const int source = topology_.sources()[at];
      all += check_bytes(block(incoming_.current(), receive_blocks_, at), part, number(source, comm_.rank),
                         "a neighbor's block");
    }
    return all;
  }

 protected:
  VectorBase(const Place& place, const Values& values, bool sends_separate_blocks)
      : comm_(place.comm),
        sends_separate_blocks_(sends_separate_blocks),
        mean_(values.bytes()),
        topology_(place.comm, values),
        counts_(values, comm_.size, static_cast<int>(topology_.sources().size())),
        send_blocks_(blocks_to(topology_.destinations())),
        receive_blocks_(blocks_from(topology_.sources())),
        outgoing_(place.arena, sends_separate_blocks ? bytes(send_blocks_.total) : counts_.bytes(comm_.rank),
                  values.word("buffers")),
        incoming_(place.arena, bytes(receive_blocks_.total), values.word("buffers")) {}

  std::size_t neighbors() const { return topology_.sources().size(); }
  std::size_t bytes(int units) const { return static_cast<std::size_t>(units) * counts_.unit(); }

  const Comm& comm_;
  const bool sends_separate_blocks_;
  const std::uint64_t mean_;
  Topology topology_;
  const Counts counts_;
  const Blocks send_blocks_;
  const Blocks receive_blocks_;
  Buffer outgoing_;
  IncomingBuffer incoming_;

 private:
  Blocks blocks_to(const std::vector<int>& destinations) const {
    Blocks blocks;
    for (const int to : destinations) blocks.add(counts_.count(sends_separate_blocks_ ? to : comm_.rank));
    return blocks;
  }
  Blocks blocks_from(const std::vector<int>& sources) const {
    Blocks blocks;
    for (const int from : sources) blocks.add(counts_.count(sends_separate_blocks_ ? comm_.rank : from));
    return blocks;
  }
  // Identity of the data that rank `from` sends to rank `to`, the same for all `to` if it sends one block.
  std::uint64_t number(int from, int to) const {
    return channel(comm_, from, sends_separate_blocks_ ? to : 0);
  }
  template <class Span>
  Span block(Span all, const Blocks& blocks, std::size_t at) const {
    return all.subspan(bytes(blocks.displacements[at]), bytes(blocks.counts[at]));
  }
};

class GathervBase : public VectorBase {
 public:
  GathervBase(const Place& place, const Values& values) : VectorBase(place, values, false) {}
};

class ExchangevBase : public VectorBase {
 public:
  ExchangevBase(const Place& place, const Values& values) : VectorBase(place, values, true) {}
};

// A call with a datatype and a displacement in bytes for each block.
class ExchangewBase : public VectorBase {
 public:
  ExchangewBase(const Place& place, const Values& values)
      : VectorBase(place, values, true),
        types_(neighbors(), counts_.type()),
        sent_bytes_(in_bytes(send_blocks_)),
        received_bytes_(in_bytes(receive_blocks_)) {}

 protected:
  const std::vector<MPI_Datatype> types_;
  const std::vector<MPI_Aint> sent_bytes_;
  const std::vector<MPI_Aint> received_bytes_;

 private:
  std::vector<MPI_Aint> in_bytes(const Blocks& blocks) const {
    std::vector<MPI_Aint> places;
    for (const int units : blocks.displacements) places.push_back(static_cast<MPI_Aint>(bytes(units)));
    return places;
  }
};

inline constexpr Parameter counts_parameter_by_rank{
    "counts",
    Kind::choice,
    "",
    "even",
    0,
    0,
    "even|skewed|single",
    "block sizes: even: all equal; skewed: from 0 for the first rank to twice the mean "
    "for the last; single: only the last rank has a block"};

}  // namespace hockney::neighborhood
