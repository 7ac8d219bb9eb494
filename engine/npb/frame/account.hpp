// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "comm/comm.hpp"
#include "comm/global_clock.hpp"
#include "hockney/barrier.hpp"
#include "npb/frame/counter.hpp"

namespace hockney::npb {

// Kinds of time. Waiting is the part of a communication before the last rank whose data this rank needs has
// entered it; the other kinds of communication are the remaining time.
enum class TimeKind { computation, messages, collectives, barriers, waiting };
inline constexpr std::size_t kind_count = 5;

struct Outgoing {
  int to;
  const void* data;
  std::size_t bytes;
};
struct Incoming {
  int from;
  void* data;
  std::size_t bytes;
};

// This rank's communication in a run: messages to other ranks, and its contribution to collectives: the
// vector summed, its block for an allgather, or its data for all ranks, including itself.
struct Traffic {
  double messages = 0;
  double bytes = 0;
  double collectives = 0;
  double collective_bytes = 0;
};

// The communication of a kernel, and an account of its time. Every call ends a period of computation, and its
// entry time is recorded. Waiting is determined after the run, when the ranks compare these times
// (settle_run); during a run, the account only reads a clock twice for each communication, and sends nothing
// itself.
// All messages are matched in order, so two ranks must exchange messages in the same order. Collectives
// always include all ranks. `phases` are the parts of a kernel's iteration, by number.
class Account {
 public:
  Account(const Comm& comm, std::size_t phases, std::unique_ptr<Barrier> barrier);

  // Start and end a run. Communication outside of runs is not recorded.
  void begin();
  void end();
  // Starts a phase.
  void phase(std::size_t number);
  // Lets operations / rate seconds pass on a simulated machine; a rate of 0 means that computing takes no
  // time.
  void compute(double operations, double rate);

  // ---- Messages; in order between two ranks. ---- Exchanges all of these messages at once: posts the
  // receives, then the sends, and completes all of them.
  void exchange(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming);
  // Messages for pipelines. send() copies the data and returns when they may be overwritten, possibly before
  // they are received.
  void send(int to, const void* data, std::size_t bytes);
  void receive(int from, void* data, std::size_t bytes);

  // ---- Collectives ----
  void sum(double* values, int count);  // in place, on all ranks
  void sum(std::int64_t* values, int count);
  // Counts and places are in bytes, one for each rank. Each rank's own part is copied as well.
  void allgather(const void* send_data, void* receive_data, std::span<const int> counts,
                 std::span<const int> places);
  void alltoall(const void* send_data, std::span<const int> sent_counts, std::span<const int> sent_places,
                void* receive_data, std::span<const int> counts, std::span<const int> places);

  // Calls the barrier that the case selects.
  void synchronise();

  // Separates waiting from communication. Collective; called after each run, outside the timed region.
  void settle_run();

  // Seconds of each kind, and of each phase and kind, in the runs settled since the last clear().
  double spent(TimeKind kind) const;
  double spent(std::size_t phase, TimeKind kind) const {
    return phases_[phase][static_cast<std::size_t>(kind)];
  }
  void clear();
  // Traffic of the last run.
  const Traffic& traffic() const { return traffic_; }
  // Number of readings of the counter in the last run.
  std::size_t readings() const { return readings_; }

 private:
  // A communication as this rank recorded it. All ranks have the same sequence of collectives and barriers.
  struct Event {
    double entered;
    double left_at;
    std::size_t phase;
    TimeKind kind;
    std::size_t message_count;  // received in it: so many entries of received_
  };

  struct Copy {
    MPI_Request request;
    std::vector<std::byte> data;
  };

  Copy& find_free_copy();
  double enter();
  void finish_call(TimeKind kind, double entered, std::size_t messages = 0);
  void sends(int to, std::size_t bytes, double entered);
  void add_traffic(std::size_t bytes);
  void adjust_clock();
  // Converts a time of the counter to the global clock.
  double global(double time) const;
  void settle_messages();
  void settle_collectives();
  void spend(const Event& event, double last);

  const Comm& comm_;
  const std::unique_ptr<Barrier> barrier_;
  std::size_t phase_ = 0;
  std::size_t readings_ = 0;
  Counter counter_;  // clock of all recorded times
  double resumed_ = 0;
  std::vector<std::array<double, kind_count>> phases_;
  std::vector<double> computed_;  // in each phase of this run, by the counter
  Traffic traffic_;
  std::vector<Event> events_;
  std::vector<int> received_from_;               // source ranks, in the order of events_
  std::vector<std::vector<double>> sent_times_;  // to each rank: time at which the sending call was entered
  std::vector<Copy> copies_;
  std::size_t oldest_ = 0;  // approximate index of the oldest of copies_
  std::vector<MPI_Request> requests_;
  GlobalClock clock_;
  double synchronised_ = -std::numeric_limits<double>::infinity();  // by this rank's clock
};

}  // namespace hockney::npb
