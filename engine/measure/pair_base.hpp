// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/workload.hpp"

namespace hockney {

// Base class of patterns between rank 0 and rank 1: a send buffer, a receive buffer, and a check that the
// received data match what the partner sent. If a run sends several messages, they are adjacent in one slot,
// in separate memory: MPI forbids two pending receives into the same bytes.
class PairBase : public Workload {
 public:
  PairBase(const Place& place, const Values& values, std::size_t messages = 1)
      : comm_(place.comm),
        block_(values.bytes()),
        partner_(1 - place.comm.rank),
        outgoing_(place.arena, values.bytes() * messages, heat(values)),
        incoming_(place.arena, values.bytes() * messages, heat(values)) {}

  void fill(const Payload& payload) override;
  Check verify(const Payload& payload) override;
  // The messages of one slot of a ring.
  bool keeps_payload() const override { return outgoing_.slots() == 1 && incoming_.slots() == 1; }
  std::uint64_t bytes_moved() const override { return block_.bytes; }

 protected:
  static constexpr int tag = 1;

  // False on a rank that only sends.
  virtual bool receives() const { return true; }
  bool first() const { return comm_.rank == 0; }

  const Comm& comm_;
  const Block block_;
  const int partner_;
  Buffer outgoing_;
  IncomingBuffer incoming_;

 private:
  static std::string heat(const Values& values) {
    return values.has("buffers") ? values.word("buffers") : "hot";
  }
};

}  // namespace hockney
