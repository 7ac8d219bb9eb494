// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/abilities.hpp"
#include "base/invalid_case.hpp"
#include "comm/affinity.hpp"
#include "measure/agreement.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"
#include "threads/team.hpp"

namespace hockney::threads {

// Base class of workloads with several threads: the threads of a rank, each with a separate channel and
// memory for `outgoing` and `incoming` messages. They wait for one another at the beginning and the end of a
// run; in between, each executes its iterations independently.
class ThreadsBase : public Workload {
 public:
  ThreadsBase(const Place& place, const Values& values, std::size_t outgoing, std::size_t incoming,
              bool comms)
      : comm_(place.comm),
        block_(values.bytes()),
        threads_(require_thread_support(values)),
        iterations_(static_cast<int>(values.integer("iterations"))),
        outgoing_messages_(outgoing),
        incoming_messages_(incoming) {
    const auto threads = static_cast<std::size_t>(threads_);
    run_on_all_ranks(comm_, [&] {
      outgoing_.emplace(place.arena, threads * outgoing * message_stride(), "hot");
      incoming_.emplace(place.arena, threads * incoming * message_stride(), "hot");
    });
    channels_.resize(threads, {comm_.handle, 1});
    for (int thread = 0; thread < threads_; ++thread) {
      Channel& channel = channels_[static_cast<std::size_t>(thread)];
      if (comms)
        MPI_Comm_dup(comm_.handle, &channel.comm);
      else
        channel.tag += thread;
    }
    team_.emplace(threads_);
  }
  ~ThreadsBase() override {
    team_.reset();
    for (Channel& channel : channels_)
      if (channel.comm != comm_.handle) MPI_Comm_free(&channel.comm);
  }

  void run() final { team_->work(all_); }

  void report(MetricValues& values) override {
    const std::optional<Processors> processors = affinity();
    values.set("cores", processors ? count(*processors) : 0);
  }

 protected:
  struct Channel {
    MPI_Comm comm;
    int tag;
  };

  // The work of one thread in an iteration.
  virtual void iterate(int thread, const Channel& channel) = 0;

  Payload payload_per_thread(const Payload& payload) const {
    return payload.divided_among(channels_.size() * (incoming_messages_ ? incoming_messages_ : 1));
  }
  std::span<std::byte> outgoing(int thread, std::size_t message = 0) {
    return place(*outgoing_, static_cast<std::size_t>(thread) * outgoing_messages_ + message);
  }
  std::span<std::byte> incoming(int thread, std::size_t message = 0) {
    return place(*incoming_, static_cast<std::size_t>(thread) * incoming_messages_ + message);
  }
  // Identity of the data that a thread of `rank` sends.
  std::uint64_t identity(int rank, int thread) const {
    return static_cast<std::uint64_t>(rank) * static_cast<std::uint64_t>(threads_) +
           static_cast<std::uint64_t>(thread);
  }

  const Comm& comm_;
  const Block block_;
  const int threads_;
  const int iterations_;

 private:
  // Avoids that two threads write to the same cache line.
  static constexpr std::size_t distance = 256;

  // The number of threads. Throws InvalidCase if this MPI does not allow all of them to call it.
  static int require_thread_support(const Values& values) {
#if !HOCKNEY_HAS_THREADS
    throw InvalidCase("threads cannot be simulated (each rank of SimGrid's MPI is one thread)");
#endif
    int provided = MPI_THREAD_SINGLE;
    MPI_Query_thread(&provided);
    if (provided < MPI_THREAD_MULTIPLE)
      throw InvalidCase(std::string("this MPI provides no more than ") +
                        (provided == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                         : provided == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED"
                                                           : "MPI_THREAD_SINGLE") +
                        "; threads that communicate at the same time need MPI_THREAD_MULTIPLE");
    return static_cast<int>(values.integer("threads"));
  }

  std::size_t message_stride() const {
    return (block_.bytes + distance - 1) / distance * distance + distance;
  }
  std::span<std::byte> place(Buffer& buffer, std::size_t index) const {
    return buffer.upcoming().subspan(index * message_stride(), block_.bytes);
  }

  const std::size_t outgoing_messages_;
  const std::size_t incoming_messages_;
  std::optional<Buffer> outgoing_;
  std::optional<Buffer> incoming_;
  std::vector<Channel> channels_;
  std::optional<Team> team_;
  const std::function<void(int)> all_ = [this](int thread) {
    const Channel channel = channels_[static_cast<std::size_t>(thread)];
    for (int i = 0; i < iterations_; ++i) iterate(thread, channel);
  };
};

inline constexpr Parameter threads_parameter{
    "threads", Kind::integer, "", "2", 1, 256, "", "threads of each rank that communicate at the same time"};

inline constexpr Parameter channel_parameter{
    "channel",  Kind::choice,
    "",         "tag",
    0,          0,
    "tag|comm", "tag: each thread has its own tag; comm: each thread has its own communicator"};

constexpr Parameter iterations_of(const char* help) {
  return {"iterations", Kind::integer, "", "100", 1, 1e6, "", help};
}

inline constexpr Metric threads_metrics[] = {
    {"cores", "", OverRanks::min, Per::record, false, "hardware threads that a rank may use; 0 if unknown"},
};

}  // namespace hockney::threads
