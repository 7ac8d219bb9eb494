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

// Computes the costs of each message. SimGrid requests them at three moments: before a send hands over its
// message (only if the call then returns or continues: small messages, and MPI_Isend and MPI_Ssend of any
// size), when the message departs, and after a small message has been received. Costs that it does not
// request are added at departure, so that messages without contention take LogGP's time, os + L + G x + or,
// for any size and any call.
// A message may take processor time on both nodes in addition to the calls of MPI: on the sender's node after
// its departure, on the receiver's before its arrival. Calls and computation wait until that work is done.
class MessageCosts {
 public:
  MessageCosts(const Description& description, std::size_t nodes);
  MessageCosts(const MessageCosts&) = delete;  // the processors refer to the detours
  MessageCosts& operator=(const MessageCosts&) = delete;

  // Seconds for which rank `rank` is busy before the message departs.
  double before(const Message& message, bool isend, std::size_t rank, double now);

  // Seconds between departure and arrival of a message, including the uncontended transmission time of its
  // links.
  double flight_s(const Message& message, const Route& route, double now);

  // Seconds for which rank `rank` is busy after the message has arrived.
  double after(const Message& message, std::size_t rank, double now);

  // The processor of a node, for the program that computes there; null if messages take no processor time
  // and no core has detours.
  smpi::Processor* processor(std::size_t node) { return processors_.empty() ? nullptr : &processors_[node]; }

 private:
  struct Rank {
    double free_at = 0;        // when it may send again: LogGP's gap
    double arrival_until = 0;  // arrival of its last message, without contention
  };
  struct Flight {
    std::size_t rank;  // the sender
    double size, until;
  };

  const Segment& segment(const Message& message) const;
  Rank& rank(std::size_t number);
  bool eager(const Message& message) const { return message.size <= eager_; }
  bool crosses_reply(const Message& message, std::size_t number, double now);
  double medium_delay(double size, double now);
  double faulty_s(const Message& message, double time);
  double rendezvous_delay(const Message& message, const Segment& segment, double flight, double now);
  double free_at(std::size_t node, double now) {
    return processors_.empty() ? now : processors_[node].free_at(now);
  }
  // When a call that takes `seconds` of the rank's core ends.
  double end_of(std::size_t node, std::size_t rank, double start, double seconds) const {
    return processors_.empty() ? start + seconds : processors_[node].end_of(rank, start, seconds);
  }

  std::vector<Segment> between_, on_node_;
  double hop_;
  Line medium_;
  double eager_;
  NoiseSource noise_;
  std::vector<Fault> faults_;
  NoiseSource losses_;
  double medium_free_at_ = 0;
  std::vector<Rank> ranks_;
  bool exchanges_cost_ = false;
  // Last small message of each rank from node to node, keyed by both nodes.
  std::unordered_map<std::size_t, std::vector<Flight>> flights_;
  std::vector<double> sending_until_;                    // by node, large messages only
  std::unordered_map<std::size_t, int> paid_overheads_;  // large messages about to be sent, by both nodes
  smpi::CoreDetours detours_;
  std::vector<smpi::Processor> processors_;  // by node, if messages take processor time or cores have detours
};

}  // namespace hockney::platform
