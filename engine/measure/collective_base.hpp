// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/invalid_case.hpp"
#include "comm/sum_op.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/workload.hpp"

namespace hockney {

// What collective patterns share: this rank's buffers, sized in blocks, and the root.
class CollectiveBase : public Workload {
 public:
  // `outgoing` and `incoming`: blocks of `bytes` this rank's send and receive buffers hold.
  CollectiveBase(const Place& place, const Values& values, std::size_t outgoing, std::size_t incoming)
      : comm_(place.comm),
        block_(values.bytes()),
        root_(root_of(place, values)),
        outgoing_(place.arena, outgoing * values.bytes(), values.word("buffers")),
        incoming_(place.arena, incoming * values.bytes(), values.word("buffers")) {}

  // A ring of places has it in one of them.
  bool keeps_payload() const override { return outgoing_.places() == 1 && incoming_.places() == 1; }
  std::uint64_t bytes_moved() const override { return block_.bytes; }

 protected:
  // The rank whose root this is, from the parameters; for sizing buffers before construction.
  static int root_of(const Place& place, const Values& values) {
    const std::int64_t root = values.has("root") ? values.integer("root") : 0;
    if (root >= place.comm.size)
      throw InvalidCase("root=" + std::to_string(root) + " is no rank of " + std::to_string(place.comm.size));
    return static_cast<int>(root);
  }
  static bool is_root(const Place& place, const Values& values) {
    return place.comm.rank == root_of(place, values);
  }

  bool at_root() const { return comm_.rank == root_; }
  std::size_t ranks() const { return static_cast<std::size_t>(comm_.size); }

  // Every rank's block, in rank order, before and after it is received; the payload is shared by the blocks.
  // `place` may be empty, on a rank that receives none.
  void spoil_all_blocks(std::span<std::byte> place, const Payload& payload) const;
  Check check_all_blocks(std::span<const std::byte> actual, const Payload& payload, const char* what) const;

  const Comm& comm_;
  const Block block_;
  const int root_;
  Buffer outgoing_;
  Buffer incoming_;
};

// Reductions sum doubles: values are whole numbers, so that the
// sum is exact in any order and can be checked to the bit.
class Reduction : public CollectiveBase {
 public:
  Reduction(const Place& place, const Values& values, std::size_t outgoing, std::size_t incoming);

  void fill(const Payload& payload) override;

 protected:
  int elements() const { return elements_; }
  MPI_Op sum() const { return sum_.operation; }
  // Sum of the factors rank + 1 over the first `ranks` ranks.
  static double factor(int ranks) { return 0.5 * ranks * (ranks + 1.0); }

 private:
  // `values`, unless no reduction can be of that size; asked before memory is taken for it.
  static const Values& reducible(const Values& values);

  const int elements_;
  const SumOp sum_;
};

}  // namespace hockney
