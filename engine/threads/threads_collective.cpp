// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <climits>

#include "base/payload.hpp"
#include "threads/threads_base.hpp"

namespace hockney::threads {
namespace {

// Collectives of several threads of each rank at once, each on a separate communicator.
class ThreadsCollective final : public ThreadsBase {
 public:
  ThreadsCollective(const Place& place, const Values& values)
      : ThreadsBase(place, countable(values), 1, 1, true),
        operation_(values.word("operation")),
        elements_(static_cast<int>(block_.bytes / sizeof(double))) {}

  void fill(const Payload& payload) override {
    for (int thread = 0; thread < threads_; ++thread) {
      if (operation_ != "bcast")
        write_reduction(outgoing(thread), seed(payload, thread), comm_.rank);
      else if (comm_.root())
        write_bytes(incoming(thread), payload_per_thread(payload), identity(0, thread));
      if (operation_ != "bcast" || !comm_.root()) spoil(incoming(thread), payload_per_thread(payload));
    }
  }

  Check verify(const Payload& payload) override {
    Check all;
    if (operation_ == "barrier" || (operation_ == "reduce" && !comm_.root())) return all;
    for (int thread = 0; thread < threads_; ++thread)
      all += operation_ == "bcast"
                 ? check_bytes(incoming(thread), payload_per_thread(payload), identity(0, thread),
                               "the message of rank 0's thread")
                 : check_reduced(incoming(thread),
                                 {seed(payload, thread), payload_per_thread(payload).max_bytes}, 0,
                                 factor_sum(comm_.size), "the sum of the threads");
    return all;
  }

  bool keeps_payload() const override { return true; }
  double operations() const override { return iterations_; }
  // Counts all threads.
  std::uint64_t bytes_moved() const override {
    return operation_ == "barrier" ? 0 : block_.bytes * static_cast<std::uint64_t>(threads_);
  }

 private:
  // Threads with the same number sum the same elements on all ranks; other threads sum different ones.
  static std::uint64_t seed(const Payload& payload, int thread) {
    return payload.seed + static_cast<std::uint64_t>(thread);
  }
  static const Values& countable(const Values& values) {
    const std::uint64_t bytes = values.bytes();
    if (bytes % sizeof(double) != 0)
      throw InvalidCase("bytes=" + std::to_string(bytes) +
                        " is not a multiple of 8 (reductions sum doubles)");
    if (bytes / sizeof(double) > INT_MAX)
      throw InvalidCase("bytes=" + std::to_string(bytes) + " is more doubles than an MPI count can hold");
    return values;
  }

  void iterate(int thread, const Channel& channel) override {
    void* const out = outgoing(thread).data();
    void* const in = incoming(thread).data();
    if (operation_ == "barrier")
      MPI_Barrier(channel.comm);
    else if (operation_ == "bcast")
      MPI_Bcast(in, elements_, MPI_DOUBLE, 0, channel.comm);
    else if (operation_ == "reduce")
      MPI_Reduce(out, in, elements_, MPI_DOUBLE, MPI_SUM, 0, channel.comm);
    else
      MPI_Allreduce(out, in, elements_, MPI_DOUBLE, MPI_SUM, channel.comm);
  }

  const std::string operation_;
  const int elements_;
};

constexpr Parameter threads_collective_parameters[] = {
    {"operation", Kind::choice, "", "allreduce", 0, 0, "allreduce|barrier|bcast|reduce",
     "the collective operation"},
    parameters::bytes("bytes of each thread's vector, a multiple of 8; a barrier has none",
                      parameters::element_bytes),
    threads_parameter,
    iterations_of("collectives of each thread before it waits for the other threads of its rank")};

}  // namespace

extern constinit const WorkloadInfo threads_collective{
    .name = "threads_collective",
    .role = "threads",
    .operation = "collective",
    .size = "bytes",
    .help =
        "several threads of each rank call collectives concurrently, each on a separate "
        "communicator",
    .time = "one collective on each thread, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = threads_collective_parameters,
    .metrics = threads_metrics,
    .make = make<ThreadsCollective>,
};

}  // namespace hockney::threads
