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

// What a rank spends its time on. Waiting is the part of a communication before the last of the ranks that
// this one needs data from has entered it; the other kinds of communication are what remains after that.
enum class Spent { computation, messages, collectives, barriers, waiting };
inline constexpr std::size_t kinds_of_spending = 5;

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

// What a rank has given to communication in a run: messages to other ranks, and its parts of collectives: the
// summed vector, its block of all, or what it has for all ranks, itself included.
struct Traffic {
  double messages = 0;
  double bytes = 0;
  double collectives = 0;
  double collective_bytes = 0;
};

// The communication of a kernel, and an account of its time: every call ends a piece of computing, and is
// entered with its time. Who waited for whom is found after the run, when the ranks compare these times
// (settle); a run itself reads a clock twice for each communication, and sends nothing of its own.
//
// All messages are matched in order, so two ranks must exchange messages in the same order. Only collectives
// over all ranks are offered. `phases` are the parts of a kernel's iteration, by number.
class Account {
 public:
  Account(const Comm& comm, std::size_t phases, std::unique_ptr<Barrier> barrier);

  // A run begins or ends. Communication outside of runs is not accounted for.
  void begin();
  void end();
  // What follows belongs to this phase.
  void phase(std::size_t number);
  // On a simulated machine, computing takes operations / rate seconds; a rate of 0 stands for no time.
  void compute(double operations, double rate);

  // ---- Messages; between two ranks in order. ----
  // All of these messages at once: receives are posted, then sends, and all are completed.
  void exchange(std::span<const Outgoing> sent, std::span<const Incoming> received);
  // For pipelines. send() returns when the data may be overwritten, which may be before they are received:
  // they are copied.
  void send(int to, const void* data, std::size_t bytes);
  void receive(int from, void* data, std::size_t bytes);

  // ---- Collectives ----
  void sum(double* values, int count);  // in place, on all ranks
  void sum(std::int64_t* values, int count);
  // Counts and places in bytes, one for each rank. Each rank's own part is copied as well.
  void allgather(const void* sent, void* received, std::span<const int> counts, std::span<const int> places);
  void alltoall(const void* sent, std::span<const int> sent_counts, std::span<const int> sent_places,
                void* received, std::span<const int> counts, std::span<const int> places);

  // The barrier that the case has chosen.
  void synchronise();

  // Collective, after each run and outside the timed region: separates waiting from communication.
  void settle();

  // Of the runs settled since the last clear(): seconds of each kind, and of each phase and kind.
  double spent(Spent kind) const;
  double spent(std::size_t phase, Spent kind) const { return phases_[phase][static_cast<std::size_t>(kind)]; }
  void clear();
  // Of the last run.
  const Traffic& traffic() const { return traffic_; }
  // Of a counter, in the last run.
  std::size_t readings() const { return readings_; }

 private:
  // A communication as this rank saw it. Of a collective or barrier, all ranks have the same sequence.
  struct Event {
    double entered;
    double left;
    std::size_t phase;
    Spent kind;
    std::size_t messages;  // received in it: so many entries of received_
  };

  struct Copy {
    MPI_Request request;
    std::vector<std::byte> data;
  };

  Copy& free_copy();
  double enter();
  void leave(Spent kind, double entered, std::size_t messages = 0);
  void sends(int to, std::size_t bytes, double entered);
  void gives(std::size_t bytes);
  void adjust_clock();
  // By the global clock.
  double global(double moment) const;
  void settle_messages();
  void settle_collectives();
  void spend(const Event& event, double last);

  const Comm& comm_;
  const std::unique_ptr<Barrier> barrier_;
  std::size_t phase_ = 0;
  std::size_t readings_ = 0;
  Counter counter_;  // entered, left, resumed and sent are moments by it
  double resumed_ = 0;
  std::vector<std::array<double, kinds_of_spending>> phases_;
  std::vector<double> computed_;  // in each phase of this run, by the counter
  Traffic traffic_;
  std::vector<Event> events_;
  std::vector<int> received_;              // from which ranks, in the order of events_
  std::vector<std::vector<double>> sent_;  // to each rank, when the call that sent it was entered
  std::vector<Copy> copies_;
  std::size_t oldest_ = 0;  // of copies_, nearly
  std::vector<MPI_Request> requests_;
  GlobalClock clock_;
  double synchronised_ = -std::numeric_limits<double>::infinity();  // by this rank's clock
};

}  // namespace hockney::npb
