// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/invalid_case.hpp"
#include "comm/sum_op.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/workload.hpp"

namespace hockney {

// The root rank given by the parameters, or 0 without such a parameter. Throws InvalidCase if the rank does
// not exist.
inline int root_of(const Place& place, const Values& values) {
  const std::int64_t root = values.has("root") ? values.integer("root") : 0;
  if (root >= place.comm.size)
    throw InvalidCase("root=" + std::to_string(root) + " is not one of the ranks 0 to " +
                      std::to_string(place.comm.size - 1));
  return static_cast<int>(root);
}

// Base class of all collective patterns: this rank's buffers, sized in blocks, and the root.
class CollectiveBase : public Workload {
 public:
  // `outgoing` and `incoming`: size of this rank's send and receive buffers, in blocks of `bytes`.
  CollectiveBase(const Place& place, const Values& values, std::size_t outgoing, std::size_t incoming)
      : comm_(place.comm),
        block_(values.bytes()),
        root_(root_of(place, values)),
        outgoing_(place.arena, outgoing * values.bytes(), values.word("buffers")),
        incoming_(place.arena, incoming * values.bytes(), values.word("buffers")) {}

  // The blocks of one slot of a ring.
  bool keeps_payload() const override { return outgoing_.slots() == 1 && incoming_.slots() == 1; }
  std::uint64_t bytes_moved() const override { return block_.bytes; }

 protected:
  // For sizing buffers before construction.
  static bool is_root(const Place& place, const Values& values) {
    return place.comm.rank == root_of(place, values);
  }

  bool at_root() const { return comm_.rank == root_; }
  static std::size_t ranks_of(const Place& place) { return static_cast<std::size_t>(place.comm.size); }
  std::size_t ranks() const { return static_cast<std::size_t>(comm_.size); }

  // These functions process the block of every rank, in rank order, before and after it is received. The
  // payload's limit is divided among the blocks. `place` may be empty on a rank that receives nothing.
  void spoil_all_blocks(std::span<std::byte> place, const Payload& payload) const;
  Check check_all_blocks(std::span<const std::byte> actual, const Payload& payload, const char* what) const;

  const Comm& comm_;
  const Block block_;
  const int root_;
  Buffer outgoing_;
  IncomingBuffer incoming_;
};

// Reductions sum doubles with integer values, so that the sum is exact in any order and can be checked bit
// for bit.
class Reduction : public CollectiveBase {
 public:
  Reduction(const Place& place, const Values& values, std::size_t outgoing, std::size_t incoming);

  void fill(const Payload& payload) override;

 protected:
  int elements() const { return elements_; }
  MPI_Op sum() const { return sum_.operation; }

 private:
  // Returns `values`. Throws InvalidCase if no reduction can have that size; called before memory is
  // allocated.
  static const Values& require_reducible(const Values& values);

  const int elements_;
  const SumOp sum_;
};

}  // namespace hockney
