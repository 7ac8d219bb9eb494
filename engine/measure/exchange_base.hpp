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

namespace hockney {

// Common to all-to-all exchanges: every rank sends to rank r the number of bytes that the counts give r, so
// all ranks send the same amount but receive different ones.
class ExchangeBase : public Workload {
 public:
  ExchangeBase(const Place& place, const Values& values)
      : comm_(place.comm),
        mean_(values.bytes()),
        sent_(values, comm_.size, comm_.size),
        received_(static_cast<std::size_t>(comm_.size), sent_.count(comm_.rank)),
        outgoing_(place.arena, sent_.total(), values.word("buffers")),
        incoming_(place.arena, static_cast<std::size_t>(comm_.size) * sent_.bytes(comm_.rank),
                  values.word("buffers")) {
    for (int from = 0; from < comm_.size; ++from) displacements_.push_back(from * sent_.count(comm_.rank));
  }

  void fill(const Payload& payload) override {
    const Payload part = payload.divided_among(static_cast<std::size_t>(comm_.size));
    for (int to = 0; to < comm_.size; ++to)
      write_bytes(outgoing_.upcoming().subspan(sent_.offset(to), sent_.bytes(to)), part,
                  channel(comm_, comm_.rank, to));
    for (int from = 0; from < comm_.size; ++from)
      spoil(incoming_.upcoming().subspan(offset(from), sent_.bytes(comm_.rank)), part);
  }

  // Each pair of ranks has a separate payload, so that blocks in the wrong order are detected.
  Check verify(const Payload& payload) override {
    Check all;
    const Payload part = payload.divided_among(static_cast<std::size_t>(comm_.size));
    for (int from = 0; from < comm_.size; ++from)
      all += check_bytes(incoming_.current().subspan(offset(from), sent_.bytes(comm_.rank)), part,
                         channel(comm_, from, comm_.rank), "a block exchanged");
    return all;
  }

  bool keeps_payload() const override { return outgoing_.slots() == 1 && incoming_.slots() == 1; }
  std::uint64_t bytes_moved() const override { return mean_; }

 protected:
  const Comm& comm_;
  const std::uint64_t mean_;
  const Counts sent_;
  const std::vector<int> received_;
  std::vector<int> displacements_;
  Buffer outgoing_;
  IncomingBuffer incoming_;

 private:
  std::size_t offset(int from) const { return static_cast<std::size_t>(from) * sent_.bytes(comm_.rank); }
};

// An exchange with a datatype for each block, but the same bytes. MPI_Alltoallw's displacements are ints, in
// bytes.
class TypedExchangeBase : public ExchangeBase {
 public:
  TypedExchangeBase(const Place& place, const Values& values)
      : ExchangeBase(place, values), types_(static_cast<std::size_t>(comm_.size), sent_.type()) {
    if (sent_.type() != MPI_BYTE)
      throw InvalidCase("bytes=" + std::to_string(mean_) + " is more than MPI_Alltoallw's displacements, " +
                        "which are int and in bytes, can reach; use alltoallv");
  }

 protected:
  const std::vector<MPI_Datatype> types_;
};

inline constexpr Parameter exchanged_bytes =
    parameters::bytes("bytes from each rank to each rank, averaged over the receivers");

}  // namespace hockney
