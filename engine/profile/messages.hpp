// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages as the arguments and statuses of calls describe them, what earlier messages from a call site have
// in common, and the counts of messages of each peer.
#pragma once

#include "profile/call.hpp"
#include "profile/channels.hpp"

namespace hockney::profile {

inline bool is_message(Class kind) {
  return kind == Class::send || kind == Class::start_send || kind == Class::receive ||
         kind == Class::start_receive;
}
inline bool is_sent(Class kind) {
  return kind == Class::send || kind == Class::start_send;
}

// One message, or one side of it.
struct Message {
  int rank, tag;  // of the other side, as the program gave them
  std::int64_t bytes;
};

// A request that is not a message, as of a call that starts now.
PendingRequest part_of(const Call& call, const SiteState& site, const CommunicatorState* on, Role role);

// A request as of a message that starts now; it is part of the multiset only if the call is nonblocking.
PendingRequest message_of(const Call& call, const SiteState& site, CommunicatorState& on, Role role,
                          const Message& message);

// The arguments of a message, as they are given.
struct Given {
  std::uint64_t count, type, communicator;
  std::int32_t rank, tag;
  bool operator==(const Given&) const = default;
};

// What earlier messages from the same call site with the same arguments have in common.
struct MessageMemo {
  Given given;
  const SiteState* site;
  std::uint32_t epoch;
  std::uint32_t symbol;
  Peer* record;
  Channel* counter;
  std::int64_t bytes;  // -1: unknown
  Part message;
};

// nullptr if there was no such message.
const MessageMemo* remembered(const Call& call, const SiteState& site);

// Fills `fresh`, and remembers it if there is memory.
const MessageMemo* remember(const Call& call, ThreadState& thread, const SiteState& site, MessageMemo* fresh);

struct Received {
  int source, tag;
  std::int64_t bytes;  // -1: unknown
  bool known, cancelled;
};

// What a status tells of the message that was received.
Received received_of(const Call& call, const void* status);

// The sender of a received message, now that it is known.
void resolve(PendingRequest& request, const Received& received);

// The wait of MPI_Probe for a message, whose number is that of the next receive in its channel.
void add_probed(const Call& call, ThreadState& thread, PendingRequest& message, const SiteState& site,
                Interval interval);

// The counts of messages with a rank in MPI_COMM_WORLD; nullptr if there is none.
Peer* peer_of(ThreadState& thread, int rank);
void count_sent(ThreadState& thread, const PendingRequest& request);
void count_received(ThreadState& thread, const PendingRequest& request, std::uint64_t waited);

}  // namespace hockney::profile
