// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/payload.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"
#include "neighborhood/topology.hpp"

namespace hockney::neighborhood {

// Base class of calls with blocks of one size: a block from each source, in the order of the topology.
class NeighborBase : public Workload {
 public:
  void prepare(int) override { topology_.create(); }
  bool keeps_payload() const override { return outgoing_.slots() == 1 && incoming_.slots() == 1; }
  std::uint64_t bytes_moved() const override { return block_.bytes * neighbors(); }

 protected:
  // `sends_separate_blocks`: whether every neighbor receives a different block.
  NeighborBase(const Place& place, const Values& values, bool sends_separate_blocks)
      : comm_(place.comm),
        block_(values.bytes()),
        topology_(place.comm, values),
        outgoing_(place.arena, block_.bytes * (sends_separate_blocks ? neighbors() : 1),
                  values.word("buffers")),
        incoming_(place.arena, block_.bytes * neighbors(), values.word("buffers")) {}

  std::size_t neighbors() const { return topology_.sources().size(); }
  template <class Span>
  Span block(Span all, std::size_t at) const {
    return all.subspan(at * block_.bytes, block_.bytes);
  }

  void spoil_incoming(const Payload& payload) {
    for (std::size_t at = 0; at < neighbors(); ++at)
      spoil(block(incoming_.upcoming(), at), payload.divided_among(neighbors()));
  }
  // `sender(rank)`: the number that identifies the payload which `rank` sends to this rank.
  template <class Sender>
  Check check_incoming(const Payload& payload, Sender sender) const {
    Check all;
    for (std::size_t at = 0; at < neighbors(); ++at)
      all += check_bytes(block(incoming_.current(), at), payload.divided_among(neighbors()),
                         sender(topology_.sources()[at]), "a neighbor's block");
    return all;
  }

  const Comm& comm_;
  const Block block_;
  Topology topology_;
  Buffer outgoing_;
  IncomingBuffer incoming_;
};

// Each rank sends the same block to all its neighbors.
class GatherBase : public NeighborBase {
 public:
  GatherBase(const Place& place, const Values& values) : NeighborBase(place, values, false) {}

  void fill(const Payload& payload) override {
    write_bytes(outgoing_.upcoming(), payload.divided_among(neighbors()),
                static_cast<std::uint64_t>(comm_.rank));
    spoil_incoming(payload);
  }
  Check verify(const Payload& payload) override {
    return check_incoming(payload, [](int source) { return static_cast<std::uint64_t>(source); });
  }
};

// Each rank sends a different block to each neighbor. The blocks from rank a to rank b have a separate
// payload. If there are two such blocks, as on a torus of two ranks, both have the same payload: their order
// was unclear before MPI-4.
class ExchangeBase : public NeighborBase {
 public:
  ExchangeBase(const Place& place, const Values& values) : NeighborBase(place, values, true) {}

  void fill(const Payload& payload) override {
    for (std::size_t at = 0; at < neighbors(); ++at)
      write_bytes(block(outgoing_.upcoming(), at), payload.divided_among(neighbors()),
                  channel(comm_, comm_.rank, topology_.destinations()[at]));
    spoil_incoming(payload);
  }
  Check verify(const Payload& payload) override {
    return check_incoming(payload, [this](int source) { return channel(comm_, source, comm_.rank); });
  }
};

}  // namespace hockney::neighborhood
