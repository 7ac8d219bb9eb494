// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/overlapped.hpp"
#include "measure/pair_base.hpp"

namespace hockney::patterns {
namespace {

// A message between two ranks, or one in each direction, from MPI_Isend and MPI_Irecv until both have been
// completed. If only one rank computes, the other one waits inside MPI all the time, so that whether the
// message makes progress depends on the computing rank only.
class Message final : public StartAndWait<PairBase> {
 public:
  Message(const Place& place, const Values& values)
      : StartAndWait<PairBase>(place, values),
        receives_(values.word("pattern") == (first() ? "receive" : "send")),
        both_(values.word("pattern") == "exchange") {}

  void start(MPI_Request* request) override {
    if (receives())
      MPI_Irecv(incoming_.next(), block_.count, block_.type, partner_, tag, comm_.handle, request++);
    if (sends()) MPI_Isend(outgoing_.next(), block_.count, block_.type, partner_, tag, comm_.handle, request);
  }
  int requests() const override { return both_ ? 2 : 1; }
  bool computes() const override { return both_ || first(); }

  // Counts both directions.
  std::uint64_t bytes_moved() const override { return (both_ ? 2 : 1) * block_.bytes; }

 private:
  bool receives() const override { return both_ || receives_; }
  bool sends() const { return both_ || !receives_; }

  const bool receives_;
  const bool both_;
};

constexpr Parameter overlap_message_parameters[] = {
    {"pattern", Kind::choice, "", "exchange", 0, 0, "exchange|send|receive",
     "exchange: both ranks send, receive and compute; send, receive: what rank 0 does, which alone computes"},
    parameters::bytes("bytes in each message"),
    parameters::buffers,
    computing_parameter,
    duration_parameter,
    tests_parameter,
    parameters::sync_each};

constexpr std::array overlap_message_metrics = metrics_of_overlap(OverRanks::root);

}  // namespace

extern constinit const WorkloadInfo overlap_message{
    .name = "overlap_message",
    .role = "overlap",
    .operation = "message",
    .size = "bytes",
    .help = "MPI_Isend, MPI_Irecv or both, computation, then MPI_Wait",
    .time = "the total on rank 0",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = overlap_message_parameters,
    .metrics = overlap_message_metrics,
    .make = [](const Place& place, const Values& values) -> std::unique_ptr<Workload> {
      return std::make_unique<Overlapped>(place, values, std::make_unique<Message>(place, values),
                                          Timing::root);
    },
};

}  // namespace hockney::patterns
