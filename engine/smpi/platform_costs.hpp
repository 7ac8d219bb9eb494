// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>
#include <vector>

#include "smpi/platform_description.hpp"
#include "smpi/platform_noise.hpp"
#include "smpi/platform_zone.hpp"
#include "smpi/processor.hpp"

namespace hockney::platform {

// A message of `size` bytes from node to node.
struct Message {
  std::size_t from = 0;
  std::size_t to = 0;
  double size = 0;
};

// The costs of each message. SimGrid asks for them at three moments: before a send hands its message over
// (only if the call then returns or continues: small messages, and MPI_Isend and MPI_Ssend of any size), when
// the message sets out, and after a small message has been received. Costs it does not ask for are added when
// the message sets out, so that messages without contention take LogGP's time, os + L + G x + or, for any
// size and any call.
//
// A message may take the time of the processors of both nodes, besides the calls of MPI: of the sender's when
// it has set out, of the receiver's before it has arrived. Calls and computing wait until that work is done.
class Costs {
 public:
  Costs(const Description& description, std::size_t nodes);

  // Seconds for which rank `rank` is busy before the message sets out.
  double before(const Message& message, bool isend, std::size_t rank, double now);

  // Seconds between departure and arrival of a message, including the uncontended transmission time of its
  // links.
  double under_way(const Message& message, const Way& way, double now);

  // Seconds for which rank `rank` is busy after the message has arrived.
  double after(const Message& message, std::size_t rank, double now);

  // Of a node, for the program that computes there; null if messages take no time of processors.
  smpi::Processor* processor(std::size_t node) { return processors_.empty() ? nullptr : &processors_[node]; }

 private:
  struct Rank {
    double free = 0;        // when it may send again: LogGP's gap
    double sent_until = 0;  // arrival of its last message, without contention
  };
  struct Flight {
    std::size_t rank;  // the sender
    double size, until;
  };

  const Segment& segment(const Message& message) const;
  Rank& rank(std::size_t number);
  bool eager(const Message& message) const { return message.size <= eager_; }
  bool met(const Message& message, std::size_t number, double now);
  double on_medium(double size, double now);
  double announced(const Message& message, const Segment& segment, double flight, double now);
  double free(std::size_t node, double now) {
    return processors_.empty() ? now : processors_[node].free(now);
  }

  std::vector<Segment> between_, on_node_;
  double hop_;
  Line medium_;
  double eager_;
  NoiseSource noise_;
  double medium_free_ = 0;
  std::vector<Rank> ranks_;
  bool exchanges_cost_ = false;
  // The last small message of each rank from node to node, keyed by both.
  std::unordered_map<std::size_t, std::vector<Flight>> flights_;
  std::vector<double> sending_until_;                    // of each node, large messages only
  std::unordered_map<std::size_t, int> overheads_paid_;  // large messages about to be sent, by both nodes
  std::vector<smpi::Processor> processors_;              // of each node, if their time is taken
};

}  // namespace hockney::platform
