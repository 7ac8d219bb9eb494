// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/abilities.hpp"
#include "base/invalid_case.hpp"
#include "base/payload.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::messages {
namespace {

// Every rank sends a buffer to its right neighbor and replaces it by the message from its left neighbor.
class RingReplace final : public Workload {
 public:
  RingReplace(const Place& place, const Values& values)
      : comm_(place.comm),
        block_(require_replaceable(values.bytes())),
        memory_(place.arena, values.bytes(), values.word("buffers")) {}

  void run() override {
    MPI_Sendrecv_replace(memory_.next(), block_.count, block_.type, right(), tag, left(), tag, comm_.handle,
                         MPI_STATUS_IGNORE);
  }

  void fill(const Payload& payload) override {
    write_bytes(memory_.upcoming(), payload, static_cast<std::uint64_t>(comm_.rank));
  }

  // Valid after a single run.
  Check verify(const Payload& payload) override {
    return check_bytes(memory_.current(), payload, static_cast<std::uint64_t>(left()),
                       "the left neighbor's message");
  }

  // False because each run forwards the data received by the previous one.
  bool keeps_payload() const override { return false; }
  std::uint64_t bytes_moved() const override { return block_.bytes; }

 private:
  static constexpr int tag = 1;

  static std::uint64_t require_replaceable(std::uint64_t bytes) {
#if !HOCKNEY_HAS_EMPTY_REPLACE
    if (bytes == 0)
      throw InvalidCase(
          "bytes=0 cannot be simulated (SimGrid's MPI_Sendrecv_replace aborts without data); use "
          "round_robin exchange=sendrecv");
#endif
    return bytes;
  }

  int right() const { return (comm_.rank + 1) % comm_.size; }
  int left() const { return (comm_.rank + comm_.size - 1) % comm_.size; }

  const Comm& comm_;
  const Block block_;
  Buffer memory_;
};

constexpr Parameter ring_replace_parameters[] = {parameters::bytes("bytes in each message"),
                                                 parameters::buffers, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo ring_replace{
    .name = "ring_replace",
    .role = "exchange",
    .operation = "sendrecv_replace",
    .size = "bytes",
    .help =
        "each rank sends to its right neighbor and receives from its left neighbor in the "
        "same buffer, with MPI_Sendrecv_replace",
    .time = "the maximum over the ranks",
    .min_ranks = 2,
    .timing = Timing::longest,
    .parameters = ring_replace_parameters,
    .make = make<RingReplace>,
};

}  // namespace hockney::messages
