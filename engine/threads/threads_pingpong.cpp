// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "threads/threads_base.hpp"

namespace hockney::threads {
namespace {

// Ping-pongs of several threads at once, each between a thread of rank 0 and one of rank 1.
class ThreadsPingPong final : public ThreadsBase {
 public:
  ThreadsPingPong(const Place& place, const Values& values)
      : ThreadsBase(place, values, 1, 1, values.word("channel") == "comm"), partner_(1 - comm_.rank) {}

  void fill(const Payload& payload) override {
    for (int thread = 0; thread < threads_; ++thread) {
      write_bytes(outgoing(thread), payload_per_thread(payload), identity(comm_.rank, thread));
      spoil(incoming(thread), payload_per_thread(payload));
    }
  }

  Check verify(const Payload& payload) override {
    Check all;
    for (int thread = 0; thread < threads_; ++thread)
      all += check_bytes(incoming(thread), payload_per_thread(payload), identity(partner_, thread),
                         "the message of the other rank's thread");
    return all;
  }

  bool keeps_payload() const override { return true; }
  double operations() const override { return 2.0 * iterations_; }
  // The total over all threads.
  std::uint64_t bytes_moved() const override { return block_.bytes * static_cast<std::uint64_t>(threads_); }

 private:
  void iterate(int thread, const Channel& channel) override {
    std::byte* const out = outgoing(thread).data();
    std::byte* const in = incoming(thread).data();
    if (comm_.root()) {
      MPI_Send(out, block_.count, block_.type, partner_, channel.tag, channel.comm);
      MPI_Recv(in, block_.count, block_.type, partner_, channel.tag, channel.comm, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, block_.count, block_.type, partner_, channel.tag, channel.comm, MPI_STATUS_IGNORE);
      MPI_Send(out, block_.count, block_.type, partner_, channel.tag, channel.comm);
    }
  }

  const int partner_;
};

constexpr Parameter threads_pingpong_parameters[] = {
    parameters::bytes("bytes in each message"), threads_parameter, channel_parameter,
    iterations_of("round trips of each thread before it waits for the other threads of its rank")};

}  // namespace

extern constinit const WorkloadInfo threads_pingpong{
    .name = "threads_pingpong",
    .role = "threads",
    .operation = "send",
    .size = "bytes",
    .help = "concurrent ping-pongs of several threads per rank, with MPI_THREAD_MULTIPLE",
    .time = "one direction on each thread: half a round trip; the bandwidth counts all threads",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = threads_pingpong_parameters,
    .metrics = threads_metrics,
    .make = make<ThreadsPingPong>,
};

}  // namespace hockney::threads
