// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/payload.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/collective_base.hpp"
#include "measure/counts.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney {

// Base class of collectives with counts: the counts, this rank's buffers and the root. A buffer holds this
// rank's block, the blocks of all ranks, or nothing.
class VectorBase : public Workload {
 public:
  bool keeps_payload() const override { return outgoing_.slots() == 1 && incoming_.slots() == 1; }
  std::uint64_t bytes_moved() const override { return mean_; }

 protected:
  enum class Contents { nothing, own, all };

  // `sends` and `receives` apply to the root, `nonroot_sends` and `nonroot_receives` to the other ranks.
  struct Shape {
    Contents sends;
    Contents receives;
    Contents nonroot_sends;
    Contents nonroot_receives;
  };

  // `unit` and `type` are passed to Counts.
  VectorBase(const Place& place, const Values& values, const Shape& shape, std::uint64_t unit = 1,
             MPI_Datatype type = MPI_BYTE)
      : comm_(place.comm),
        mean_(values.bytes()),
        root_(root_of(place, values)),
        counts_(values, comm_.size, 1, unit, type),
        outgoing_(place.arena, bytes_of(at_root() ? shape.sends : shape.nonroot_sends),
                  values.word("buffers")),
        incoming_(place.arena, bytes_of(at_root() ? shape.receives : shape.nonroot_receives),
                  values.word("buffers")) {}

  bool at_root() const { return comm_.rank == root_; }
  int local_count() const { return counts_.count(comm_.rank); }

  // Each rank's block carries that rank's payload.
  void write_own_block(const Payload& payload) {
    write_bytes(outgoing_.upcoming(), part_of(payload), static_cast<std::uint64_t>(comm_.rank));
  }
  void write_all_blocks(const Payload& payload) {
    for (int rank = 0; rank < comm_.size; ++rank)
      write_bytes(block(outgoing_.upcoming(), rank), part_of(payload), static_cast<std::uint64_t>(rank));
  }
  void spoil_own_block(const Payload& payload) { spoil(incoming_.upcoming(), part_of(payload)); }
  void spoil_all_blocks(const Payload& payload) {
    for (int rank = 0; rank < comm_.size; ++rank) spoil(block(incoming_.upcoming(), rank), part_of(payload));
  }
  Check check_own_block(const Payload& payload, const char* contents) const {
    return check_bytes(incoming_.current(), part_of(payload), static_cast<std::uint64_t>(comm_.rank),
                       contents);
  }
  Check check_all_blocks(const Payload& payload, const char* contents) const {
    Check all;
    for (int rank = 0; rank < comm_.size; ++rank)
      all += check_bytes(block(incoming_.current(), rank), part_of(payload), static_cast<std::uint64_t>(rank),
                         contents);
    return all;
  }

  const Comm& comm_;
  const std::uint64_t mean_;
  const int root_;
  const Counts counts_;
  Buffer outgoing_;
  IncomingBuffer incoming_;

 private:
  std::size_t bytes_of(Contents contents) const {
    return contents == Contents::all   ? counts_.total()
           : contents == Contents::own ? counts_.bytes(comm_.rank)
                                       : 0;
  }
  Payload part_of(const Payload& payload) const {
    return payload.divided_among(static_cast<std::size_t>(comm_.size));
  }
  template <class Span>
  Span block(Span all, int rank) const {
    return all.subspan(counts_.offset(rank), counts_.bytes(rank));
  }
};

// Every rank gets all blocks.
class AllgathervBase : public VectorBase {
 public:
  AllgathervBase(const Place& place, const Values& values)
      : VectorBase(place, values, {Contents::own, Contents::all, Contents::own, Contents::all}) {}

  void fill(const Payload& payload) override {
    write_own_block(payload);
    spoil_all_blocks(payload);
  }
  Check verify(const Payload& payload) override { return check_all_blocks(payload, "a block gathered"); }
};

// The root gets all blocks.
class GathervBase : public VectorBase {
 public:
  GathervBase(const Place& place, const Values& values)
      : VectorBase(place, values, {Contents::own, Contents::all, Contents::own, Contents::nothing}) {}

  void fill(const Payload& payload) override {
    write_own_block(payload);
    if (at_root()) spoil_all_blocks(payload);
  }
  Check verify(const Payload& payload) override {
    return at_root() ? check_all_blocks(payload, "a block gathered") : Check{};
  }
};

// The root sends every rank its block.
class ScattervBase : public VectorBase {
 public:
  ScattervBase(const Place& place, const Values& values)
      : VectorBase(place, values, {Contents::all, Contents::own, Contents::nothing, Contents::own}) {}

  void fill(const Payload& payload) override {
    spoil_own_block(payload);
    if (at_root()) write_all_blocks(payload);
  }
  Check verify(const Payload& payload) override { return check_own_block(payload, "the block scattered"); }
};

inline constexpr Parameter mean_bytes = parameters::bytes("mean size of a rank's block");

}  // namespace hockney
