// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "threads/threads_base.hpp"

namespace hockney::threads {
namespace {

// The ranks form a ring for each of their threads, on which messages meet:
//    pingping   MPI_Isend to the right, MPI_Recv from the left, MPI_Wait
//    sendrecv   the same with MPI_Sendrecv
//    both       MPI_Isend to both neighbors, MPI_Recv from both, MPI_Waitall
class ThreadsExchange final : public ThreadsBase {
 public:
  ThreadsExchange(const Place& place, const Values& values)
      : ThreadsBase(place, values, 1, values.word("pattern") == "both" ? 2 : 1,
                    values.word("channel") == "comm"),
        both_(values.word("pattern") == "both"),
        calls_sendrecv_(values.word("pattern") == "sendrecv"),
        unfinished_((comm_.rank + comm_.size - 1) % comm_.size),
        right_((comm_.rank + 1) % comm_.size) {}

  void fill(const Payload& payload) override {
    for (int thread = 0; thread < threads_; ++thread) {
      write_bytes(outgoing(thread), payload_per_thread(payload), identity(comm_.rank, thread));
      spoil(incoming(thread), payload_per_thread(payload));
      if (both_) spoil(incoming(thread, 1), payload_per_thread(payload));
    }
  }

  Check verify(const Payload& payload) override {
    Check all;
    for (int thread = 0; thread < threads_; ++thread) {
      all += check_bytes(incoming(thread), payload_per_thread(payload), identity(unfinished_, thread),
                         "the message of the left rank's thread");
      if (both_)
        all += check_bytes(incoming(thread, 1), payload_per_thread(payload), identity(right_, thread),
                           "the message of the right rank's thread");
    }
    return all;
  }

  bool keeps_payload() const override { return true; }
  double operations() const override { return iterations_; }
  // Counts the messages that all threads of a rank send.
  std::uint64_t bytes_moved() const override {
    return block_.bytes * static_cast<std::uint64_t>(threads_) * (both_ ? 2 : 1);
  }

 private:
  void iterate(int thread, const Channel& channel) override {
    std::byte* const out = outgoing(thread).data();
    std::byte* const in = incoming(thread).data();
    if (calls_sendrecv_) {
      MPI_Sendrecv(out, block_.count, block_.type, right_, channel.tag, in, block_.count, block_.type,
                   unfinished_, channel.tag, channel.comm, MPI_STATUS_IGNORE);
      return;
    }
    MPI_Request sending[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Isend(out, block_.count, block_.type, right_, channel.tag, channel.comm, &sending[0]);
    if (both_) MPI_Isend(out, block_.count, block_.type, unfinished_, channel.tag, channel.comm, &sending[1]);
    MPI_Recv(in, block_.count, block_.type, unfinished_, channel.tag, channel.comm, MPI_STATUS_IGNORE);
    if (both_)
      MPI_Recv(incoming(thread, 1).data(), block_.count, block_.type, right_, channel.tag, channel.comm,
               MPI_STATUS_IGNORE);
    MPI_Waitall(2, sending, MPI_STATUSES_IGNORE);
  }

  const bool both_;
  const bool calls_sendrecv_;
  const int unfinished_;
  const int right_;
};

constexpr Parameter threads_exchange_parameters[] = {
    parameters::bytes("bytes in each message"),
    {"pattern", Kind::choice, "", "pingping", 0, 0, "pingping|sendrecv|both",
     "pingping: each thread sends to the right with MPI_Isend and MPI_Recv; sendrecv: the "
     "same with MPI_Sendrecv; both: to both neighbors with MPI_Isend"},
    threads_parameter,
    channel_parameter,
    iterations_of("exchanges of each thread before it waits for the other threads of its rank")};

}  // namespace

extern constinit const WorkloadInfo threads_exchange{
    .name = "threads_exchange",
    .role = "threads",
    .operation = "exchange",
    .size = "bytes",
    .help = "several threads of each rank exchange messages with their neighbors concurrently",
    .time =
        "one exchange on each thread, the maximum over the ranks; the bandwidth counts all "
        "threads of a rank",
    .min_ranks = 2,
    .timing = Timing::longest,
    .parameters = threads_exchange_parameters,
    .metrics = threads_metrics,
    .make = make<ThreadsExchange>,
};

}  // namespace hockney::threads
