// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/invalid_case.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::messages {

inline constexpr Parameter pairs{
    "pairs",
    Kind::integer,
    "",
    "0",
    0,
    1e7,
    "",
    "number of active pairs of rank i and rank i + p/2; the other ranks are idle (0: all p/2 pairs)"};

inline constexpr Parameter source{"source",    Kind::choice,
                                  "",          "named",
                                  0,           0,
                                  "named|any", "named: each receive names its sender; any: MPI_ANY_SOURCE"};

// Pairs of ranks, rank i of the lower half with rank i + p/2, all at once. If a run sends several messages,
// they are adjacent in memory.
class PairsBase : public Workload {
 public:
  PairsBase(const Place& place, const Values& values, std::size_t messages)
      : comm_(place.comm),
        block_(values.bytes()),
        half_(comm_.size / 2),
        pairs_(pairs_of(place, values)),
        lower_(comm_.rank < pairs_),
        upper_(comm_.rank >= half_ && comm_.rank < half_ + pairs_),
        partner_(lower_ ? comm_.rank + half_ : comm_.rank - half_),
        outgoing_(place.arena, memory(values, messages), values.word("buffers")),
        incoming_(place.arena, memory(values, messages), values.word("buffers")) {}

  void fill(const Payload& payload) override {
    if (sends()) write_bytes(outgoing_.upcoming(), payload, static_cast<std::uint64_t>(comm_.rank));
    if (receives()) spoil(incoming_.upcoming(), payload);
  }
  Check verify(const Payload& payload) override {
    if (!receives()) return {};
    return check_bytes(incoming_.current(), payload, static_cast<std::uint64_t>(partner_),
                       "what the partner sent");
  }
  bool keeps_payload() const override { return outgoing_.slots() == 1 && incoming_.slots() == 1; }

 protected:
  static constexpr int tag = 1;

  virtual bool sends() const { return lower_ || upper_; }
  virtual bool receives() const { return lower_ || upper_; }

  const Comm& comm_;
  const Block block_;
  const int half_;
  const int pairs_;
  const bool lower_;
  const bool upper_;
  const int partner_;
  Buffer outgoing_;
  IncomingBuffer incoming_;

 private:
  static int pairs_of(const Place& place, const Values& values) {
    const std::int64_t pairs = values.integer("pairs");
    const int max_pairs = place.comm.size / 2;
    if (pairs > max_pairs)
      throw InvalidCase("pairs=" + std::to_string(pairs) + " needs " + std::to_string(2 * pairs) +
                        " ranks, but there are " + std::to_string(place.comm.size));
    return pairs == 0 ? max_pairs : static_cast<int>(pairs);
  }
  std::uint64_t memory(const Values& values, std::size_t messages) const {
    return lower_ || upper_ ? values.bytes() * messages : 0;
  }
};

}  // namespace hockney::messages
