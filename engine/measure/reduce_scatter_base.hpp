// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/abilities.hpp"
#include "base/payload.hpp"
#include "comm/sum_op.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/counts.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney {

// Base class of reduce-scatters in which every rank gets a block of a different size. The elements are
// doubles whose sums are exact, so every bit is checked.
class ReduceScatterBase : public Workload {
 public:
  ReduceScatterBase(const Place& place, const Values& values)
      : comm_(place.comm),
        counts_(require_countable(values, place.comm.size), comm_.size, 1, sizeof(double), MPI_DOUBLE),
        outgoing_(place.arena, counts_.total(), values.word("buffers")),
        incoming_(place.arena, counts_.bytes(comm_.rank), values.word("buffers")) {}

  void fill(const Payload& payload) override {
    write_reduction(outgoing_.upcoming(), payload.seed, comm_.rank);
    spoil(incoming_.upcoming(), payload);
  }

  Check verify(const Payload& payload) override {
    const std::size_t first = counts_.offset(comm_.rank) / sizeof(double);
    return check_reduced(incoming_.current(), payload, first, factor_sum(comm_.size), "the block of the sum");
  }

  bool keeps_payload() const override { return outgoing_.slots() == 1 && incoming_.slots() == 1; }
  std::uint64_t bytes_moved() const override {
    return counts_.total() / static_cast<std::size_t>(comm_.size);
  }

 protected:
  const Comm& comm_;
  const Counts counts_;
  const SumOp sum_;
  Buffer outgoing_;
  IncomingBuffer incoming_;

 private:
  // Returns `values`. Throws InvalidCase if an int cannot count the doubles, because a sum has no larger
  // unit, or if this MPI sums them incorrectly.
  static const Values& require_countable(const Values& values, int ranks) {
#if !HOCKNEY_HAS_EMPTY_BLOCKS
    if (values.word("counts") != "even")
      throw InvalidCase(
          "counts=" + values.word("counts") +
          " cannot be simulated (SimGrid's MPI_Reduce_scatter leaves ranks out of the sum where "
          "blocks are empty); use counts=even");
#endif
    if (static_cast<double>(values.bytes()) / sizeof(double) * ranks > INT_MAX)
      throw InvalidCase("bytes=" + std::to_string(values.bytes()) + " for each of " + std::to_string(ranks) +
                        " ranks is more doubles than an MPI count can hold");
    return values;
  }
};

inline constexpr Parameter summed_bytes =
    parameters::bytes("mean size of a rank's block of the sum, a multiple of 8", parameters::element_bytes);

}  // namespace hockney
