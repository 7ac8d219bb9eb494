// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "threads/threads_base.hpp"

namespace hockney::threads {
namespace {

// Each thread of rank 0 sends windows of messages to a thread of rank 1, which ends a window with an empty
// answer. In both directions, a thread that has received all messages has also received the partner's last
// one.
class ThreadsStream final : public ThreadsBase {
 public:
  ThreadsStream(const Place& place, const Values& values)
      : ThreadsBase(place, values, window_size(values), window_size(values),
                    values.word("channel") == "comm"),
        window_(window_size(values)),
        both_(values.word("direction") == "both"),
        partner_(1 - comm_.rank),
        requests_(static_cast<std::size_t>(threads_) * 2 * window_) {}

  void fill(const Payload& payload) override {
    for (int thread = 0; thread < threads_; ++thread)
      for (std::size_t i = 0; i < window_; ++i) {
        if (sends())
          write_bytes(outgoing(thread, i), payload_per_thread(payload), number(comm_.rank, thread, i));
        if (receives()) spoil(incoming(thread, i), payload_per_thread(payload));
      }
  }

  Check verify(const Payload& payload) override {
    Check all;
    if (!receives()) return all;
    for (int thread = 0; thread < threads_; ++thread)
      for (std::size_t i = 0; i < window_; ++i)
        all += check_bytes(incoming(thread, i), payload_per_thread(payload), number(partner_, thread, i),
                           "a message of the other rank's thread");
    return all;
  }

  bool keeps_payload() const override { return true; }
  // Counts all messages of all threads, so that the inverse of the time is the message rate.
  double operations() const override {
    return static_cast<double>(window_) * threads_ * iterations_ * (both_ ? 2 : 1);
  }
  std::uint64_t bytes_moved() const override { return block_.bytes; }

 private:
  static std::size_t window_size(const Values& values) {
    return static_cast<std::size_t>(values.integer("window"));
  }
  bool sends() const { return both_ || comm_.root(); }
  bool receives() const { return both_ || !comm_.root(); }
  std::uint64_t number(int rank, int thread, std::size_t message) const {
    return identity(rank, thread) * window_ + message;
  }

  void iterate(int thread, const Channel& channel) override {
    MPI_Request* const requests = &requests_[static_cast<std::size_t>(thread) * 2 * window_];
    int request_count = 0;
    if (receives())
      for (std::size_t i = 0; i < window_; ++i)
        MPI_Irecv(incoming(thread, i).data(), block_.count, block_.type, partner_, channel.tag, channel.comm,
                  &requests[request_count++]);
    if (sends())
      for (std::size_t i = 0; i < window_; ++i)
        MPI_Isend(outgoing(thread, i).data(), block_.count, block_.type, partner_, channel.tag, channel.comm,
                  &requests[request_count++]);
    MPI_Waitall(request_count, requests, MPI_STATUSES_IGNORE);
    if (both_) return;
    if (comm_.root())
      MPI_Recv(nullptr, 0, MPI_BYTE, partner_, channel.tag, channel.comm, MPI_STATUS_IGNORE);
    else
      MPI_Send(nullptr, 0, MPI_BYTE, partner_, channel.tag, channel.comm);
  }

  const std::size_t window_;
  const bool both_;
  const int partner_;
  std::vector<MPI_Request> requests_;
};

constexpr Parameter threads_stream_parameters[] = {
    parameters::bytes("bytes in each message"),
    {"direction", Kind::choice, "", "one", 0, 0, "one|both", "one: rank 0 sends; both: rank 1 also sends"},
    parameters::window,
    threads_parameter,
    channel_parameter,
    iterations_of("windows of each thread before it waits for the other threads of its rank")};

}  // namespace

extern constinit const WorkloadInfo threads_stream{
    .name = "threads_stream",
    .role = "threads",
    .operation = "isend",
    .size = "bytes",
    .help = "many concurrent messages between the threads of two ranks (MPI_Isend, MPI_Irecv)",
    .time =
        "the total divided by the number of messages of all threads: the inverse is the "
        "message rate",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = threads_stream_parameters,
    .metrics = threads_metrics,
    .make = make<ThreadsStream>,
};

}  // namespace hockney::threads
