// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <optional>

#include "base/invalid_case.hpp"
#include "comm/affinity.hpp"
#include "measure/agreement.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"
#include "threads/team.hpp"

namespace hockney::threads {
namespace {

// Concurrent ping-pongs between the threads of rank 0 and those of rank 1. The threads of a rank wait for
// each other only at the beginning and the end of a run; in between, each performs its iterations
// independently.
class ThreadsPingPong final : public Workload {
 public:
  ThreadsPingPong(const Place& place, const Values& values)
      : comm_(place.comm),
        block_(values.bytes()),
        threads_(supported(values)),
        iterations_(static_cast<int>(values.integer("iterations"))),
        partner_(1 - comm_.rank) {
    const auto threads = static_cast<std::size_t>(threads_);
    on_all(comm_, [&] {
      outgoing_.emplace(place.arena, threads * apart(), "hot");
      incoming_.emplace(place.arena, threads * apart(), "hot");
    });
    channels_.resize(threads, {comm_.handle, tag});
    for (int thread = 0; thread < threads_; ++thread) {
      Channel& channel = channels_[static_cast<std::size_t>(thread)];
      if (values.word("channel") == "comm")
        MPI_Comm_dup(comm_.handle, &channel.comm);
      else
        channel.tag += thread;
    }
    team_.emplace(threads_);
  }
  ~ThreadsPingPong() override {
    team_.reset();
    for (Channel& channel : channels_)
      if (channel.comm != comm_.handle) MPI_Comm_free(&channel.comm);
  }

  void run() override { team_->work(all_); }

  void fill(const Payload& payload) override {
    const Payload part = payload.shared_by(channels_.size());
    for (int thread = 0; thread < threads_; ++thread) {
      write_bytes(message(*outgoing_, thread), part, identity(comm_.rank, thread));
      spoil(message(*incoming_, thread), part);
    }
  }

  Check verify(const Payload& payload) override {
    const Payload part = payload.shared_by(channels_.size());
    Check all;
    for (int thread = 0; thread < threads_; ++thread)
      all += check_bytes(message(*incoming_, thread), part, identity(partner_, thread),
                         "the message of the other rank's thread");
    return all;
  }

  bool keeps_payload() const override { return true; }
  double operations() const override { return 2.0 * iterations_; }
  // The total of all threads.
  std::uint64_t bytes_moved() const override { return block_.bytes * static_cast<std::uint64_t>(threads_); }

  void report(MetricValues& values) override {
    const std::optional<Processors> processors = affinity();
    values.set("cores", processors ? count(*processors) : 0);
  }

 private:
  struct Channel {
    MPI_Comm comm;
    int tag;
  };
  static constexpr int tag = 1;
  // Each thread writes into a separate cache line.
  static constexpr std::size_t distance = 256;

  // The number of threads. Throws if this MPI does not support concurrent calls from them.
  static int supported(const Values& values) {
#ifdef HOCKNEY_SMPI
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

  void iterate(int thread) {
    const Channel channel = channels_[static_cast<std::size_t>(thread)];
    std::byte* const out = message(*outgoing_, thread).data();
    std::byte* const in = message(*incoming_, thread).data();
    for (int i = 0; i < iterations_; ++i) {
      if (comm_.root()) {
        MPI_Send(out, block_.count, block_.type, partner_, channel.tag, channel.comm);
        MPI_Recv(in, block_.count, block_.type, partner_, channel.tag, channel.comm, MPI_STATUS_IGNORE);
      } else {
        MPI_Recv(in, block_.count, block_.type, partner_, channel.tag, channel.comm, MPI_STATUS_IGNORE);
        MPI_Send(out, block_.count, block_.type, partner_, channel.tag, channel.comm);
      }
    }
  }

  std::size_t apart() const { return (block_.bytes + distance - 1) / distance * distance + distance; }
  std::span<std::byte> message(Buffer& buffer, int thread) const {
    return buffer.upcoming().subspan(static_cast<std::size_t>(thread) * apart(), block_.bytes);
  }
  std::uint64_t identity(int rank, int thread) const {
    return static_cast<std::uint64_t>(rank) * static_cast<std::uint64_t>(threads_) +
           static_cast<std::uint64_t>(thread);
  }

  const Comm& comm_;
  const Block block_;
  const int threads_;
  const int iterations_;
  const int partner_;
  std::optional<Buffer> outgoing_;
  std::optional<Buffer> incoming_;
  std::vector<Channel> channels_;
  std::optional<Team> team_;
  const std::function<void(int)> all_ = [this](int thread) { iterate(thread); };
};

constexpr Parameter threads_pingpong_parameters[] = {
    parameters::bytes("bytes in each message"),
    {"threads", Kind::integer, "", "2", 1, 256, "", "threads of each rank that communicate at the same time"},
    {"channel", Kind::choice, "", "tag", 0, 0, "tag|comm",
     "what tells the threads' messages apart: a tag for each, or a communicator for each"},
    {"iterations", Kind::integer, "", "100", 1, 1e6, "",
     "round trips of each thread before it waits for the others of its rank"}};

constexpr Metric threads_metrics[] = {
    {"cores", "", OverRanks::min, Per::record, false,
     "hardware threads that a rank may use; 0 where the system does not tell"},
};

}  // namespace

extern constinit const WorkloadInfo threads_pingpong{
    .name = "threads_pingpong",
    .role = "threads",
    .operation = "send",
    .size = "bytes",
    .help = "ping-pongs of several threads of each rank at once, with MPI_THREAD_MULTIPLE",
    .time = "one way on each thread: half a round trip; bandwidth is of all threads",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = threads_pingpong_parameters,
    .metrics = threads_metrics,
    .make = make<ThreadsPingPong>,
};

}  // namespace hockney::threads
