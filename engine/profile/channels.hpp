// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers messages within their channels, equally on the sender and the receiver: messages with equal
// communicator, sender, receiver and tag do not overtake each other. Some messages are timed individually.
#pragma once

#include <cstdint>

#include "profile/communicators.hpp"
#include "profile/requests.hpp"
#include "profile/threads.hpp"

namespace hockney::profile {

// The channels of one direction. Used only while a single thread calls MPI, because the order of calls is
// unknown otherwise.
struct Channel {
  std::uint64_t key;
  std::uint32_t next;
};

// The phase of a message or collective in which a call waits for its end.
struct Interval {
  std::uint64_t enter, leave;
};

// A receive whose number in its channel depends on the message that an earlier receive from any rank, or with
// any tag, gets. Those that may get the same message are numbered in the order of their posts.
struct Doubt {
  Doubt* next;
  PendingRequest* request;  // while it is pending; nullptr: `ended` tells what its sample says
  PendingRequest ended;
  const SiteState* site;  // of the call that completed it; nullptr: it has no sample
  Interval interval;
  std::int32_t peer, tag;  // -1: of any rank
  bool any_tag, resolved;
};

// 0 if messages are not numbered.
std::uint64_t channel_of(const CommunicatorState& on, int sender, int receiver, int tag);

// The counter of a channel; nullptr, and no channel, if there is no room.
Channel* counter_of(std::uint64_t* channel, bool sends);

// Sets the channel and number of a message whose peer and tag are known.
void set_channel(PendingRequest& request, CommunicatorState& on, bool sends);

// Whether an earlier receive may get a message with this sender and tag.
bool in_doubt(const CommunicatorState& on, int peer, int tag);

// The number of a receive whose sender and tag are known, unless an earlier one may take its message.
void number_receive(PendingRequest& request, CommunicatorState& on);

// Registers a receive whose sender or tag is not known yet.
void doubt_receive(PendingRequest& request, CommunicatorState& on, bool resolved);

// Ends a receive in doubt. Without a site its sample is not kept.
void end_doubt(ThreadState& thread, PendingRequest& request, const SiteState* site, Interval interval);

// Removes a receive that gets no message.
void withdraw_receive(ThreadState& thread, PendingRequest& request);

// Stops numbering messages to this rank.
void lose_receives(CommunicatorState& on);

// Keeps the times of a message or collective if its number is one of the timed ones.
void add_sample(ThreadState& thread, const PendingRequest& request, const SiteState& site, Interval interval);

}  // namespace hockney::profile
