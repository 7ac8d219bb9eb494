// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/messages.hpp"

#include <string.h>

#include "profile/session.hpp"
#include "profile/sizes.hpp"

namespace hockney::profile {

PendingRequest part_of(const Call& call, const SiteState& site, const CommunicatorState* on, Role role) {
  PendingRequest part{};
  part.posted = call.start;
  part.site = site.record->id;
  part.communicator = on ? on->id : 0;
  part.function = call.called().function;
  part.role = role;
  part.peer = -1;
  return part;
}

PendingRequest message_of(const Call& call, const SiteState& site, CommunicatorState& on, Role role,
                          const Message& message) {
  PendingRequest request{};
  request.posted = call.start;
  request.bytes = message.bytes < 0 ? 0 : static_cast<std::uint64_t>(message.bytes);
  request.site = site.record->id;
  request.communicator = on.id;
  request.of = &on;
  request.function = call.called().function;
  request.role = role;
  request.tag = message.tag;
  request.wildcard = role == Role::receive && message.rank != mpi.proc_null &&
                     (message.rank == mpi.any_source || message.tag == mpi.any_tag);
  request.peer = message.rank == mpi.any_source ? -1 : on.in_world(message.rank);
  request.distance = message.rank == mpi.proc_null ? Distance::none : world.distance(request.peer);
  return request;
}

namespace {

Given given_of(const Call& call, bool sends) {
  const Parameter rank = sends ? destination_ : source_;
  if (call.fortran())
    return {static_cast<std::uint64_t>(call.count(count_)), static_cast<std::uint64_t>(call.output(type_)),
            static_cast<std::uint64_t>(call.output(communicator_)), call.integer(rank), call.integer(tag_)};
  return {call.raw(count_), call.raw(type_), call.raw(communicator_),
          static_cast<std::int32_t>(call.raw(rank)), static_cast<std::int32_t>(call.raw(tag_))};
}

// Few enough for a few pages of memory; a memo is in one of `most_probes` places from its first one on.
constexpr std::uint32_t most_memos = 512, most_probes = 4;
thread_local MessageMemo* memos = nullptr;

std::uint32_t first_place(const Given& given, const SiteState& site) {
  const std::uint64_t mixed =
      (reinterpret_cast<std::uint64_t>(&site) >> 3) * 0x9e3779b97f4a7c15ULL ^
      static_cast<std::uint64_t>(given.rank + given.tag * 16) * 0xff51afd7ed558ccdULL ^
      given.count * 0xc4ceb9fe1a85ec53ULL;
  return static_cast<std::uint32_t>(mixed >> 32);
}

}  // namespace

const MessageMemo* remembered(const Call& call, const SiteState& site) {
  if (!memos) return nullptr;
  const Given given = given_of(call, is_sent(call.function().kind));
  const std::uint32_t first = first_place(given, site);
  for (std::uint32_t k = 0; k < most_probes; ++k) {
    const MessageMemo& memo = memos[(first + k) % most_memos];
    if (memo.site == &site && memo.given == given && memo.epoch == communicator_epoch &&
        memo.symbol == call.symbol)
      return &memo;
  }
  return nullptr;
}

[[gnu::cold, gnu::noinline]] const MessageMemo* remember(const Call& call, ThreadState& thread,
                                                         const SiteState& site, MessageMemo* fresh) {
  const bool sends = is_sent(call.function().kind);
  CommunicatorState* const on = communicator_state(thread, communicator_of(call));
  if (!on) return nullptr;
  fresh->given = given_of(call, sends);
  fresh->site = &site;
  fresh->epoch = communicator_epoch;
  fresh->symbol = call.symbol;
  fresh->bytes = bytes_of(call, thread, count_, type_);
  Part& message = fresh->message = message_of(call, site, *on, sends ? Role::send : Role::receive,
                                              {fresh->given.rank, fresh->given.tag, fresh->bytes});
  message.channel = message.wildcard ? 0
                    : sends          ? channel_of(*on, world.rank, message.peer, message.tag)
                                     : channel_of(*on, message.peer, world.rank, message.tag);
  fresh->counter = counter_of(&message.channel, sends);
  fresh->record = peer_of(thread, message.peer);
  if (!memos && own_state) {
    if (!own_state->memos) own_state->memos = private_memory(most_memos * sizeof(MessageMemo));
    memos = static_cast<MessageMemo*>(own_state->memos);
  }
  if (!memos) return fresh;
  const std::uint32_t first = first_place(fresh->given, site);
  MessageMemo* place = &memos[first % most_memos];
  for (std::uint32_t k = 0; k < most_probes; ++k) {
    MessageMemo& other = memos[(first + k) % most_memos];
    if (other.site && other.epoch == communicator_epoch) continue;
    place = &other;
    break;
  }
  *place = *fresh;
  return place;
}

Received received_of(const Call& call, const void* status) {
  if (mpi.ignored(status, call.fortran())) return {0, 0, -1, false, false};
  const auto* const fields = static_cast<const char*>(status);
  Received received{0, 0, -1, true, false};
  memcpy(&received.source, fields + mpi.source_at, sizeof(int));
  memcpy(&received.tag, fields + mpi.tag_at, sizeof(int));
  if (mpi.abi == Abi::open_mpi) {
    int cancelled = 0;
    memcpy(&cancelled, fields + 12, sizeof cancelled);
    received.cancelled = cancelled != 0;
    memcpy(&received.bytes, fields + 16, sizeof received.bytes);
  } else if (mpi.abi == Abi::mpich) {
    std::uint32_t low = 0, high = 0;  // the lowest bit of the latter is another field
    memcpy(&low, fields, sizeof low);
    memcpy(&high, fields + 4, sizeof high);
    received.cancelled = high & 1;
    received.bytes = static_cast<std::int64_t>(std::uint64_t{high >> 1} << 32 | low);
  } else if (mpi.get_count_c) {
    int cancelled = 0;
    if (mpi.get_count_c(status, mpi.byte, &received.bytes) != 0) received.bytes = -1;
    if (mpi.test_cancelled && mpi.test_cancelled(status, &cancelled) == 0)
      received.cancelled = cancelled != 0;
  }
  return received;
}

void resolve(PendingRequest& request, const Received& received) {
  if (received.known && received.bytes >= 0 && request.peer != -1)
    request.bytes = static_cast<std::uint64_t>(received.bytes);
  if (!request.wildcard || !request.of) return;
  if (!received.known) {
    lose_receives(*request.of);
    return;
  }
  if (received.source == mpi.proc_null) return;
  if (received.bytes >= 0) request.bytes = static_cast<std::uint64_t>(received.bytes);
  request.peer = request.of->in_world(received.source);
  request.tag = received.tag;
  request.distance = world.distance(request.peer);
  if (!request.doubt) return number_receive(request, *request.of);
  request.doubt->peer = request.peer;
  request.doubt->tag = request.tag;
  request.doubt->any_tag = false;
  request.doubt->resolved = true;
}

void add_probed(const Call& call, ThreadState& thread, PendingRequest& message, const SiteState& site,
                Interval interval) {
  CommunicatorState& on = *message.of;
  if (message.wildcard) {
    const Received received = received_of(call, call.pointer(status_));
    if (!received.known || received.source == mpi.proc_null) return;
    message.peer = on.in_world(received.source);
    message.tag = received.tag;
    message.distance = world.distance(message.peer);
  }
  if (on.receives_lost) return;
  if (in_doubt(on, message.peer, message.tag)) return;  // the number is not known yet
  message.channel = channel_of(on, message.peer, world.rank, message.tag);
  const Channel* const counter = counter_of(&message.channel, false);
  message.number = counter ? counter->next : 0;
  add_sample(thread, message, site, interval);
}

Peer* peer_of(ThreadState& thread, int rank) {
  if (rank < 0 || rank >= world.size) return nullptr;
  if (!thread.peers)
    thread.peers = static_cast<Peer**>(private_memory(sizeof(Peer*) * static_cast<std::size_t>(world.size)));
  if (!thread.peers) return nullptr;
  Peer*& peer = thread.peers[rank];
  if (!peer) {
    peer = thread.peer_pages.add(thread.id);
    if (!peer) return nullptr;
    peer->rank = rank;
    peer->distance = world.distance(rank);
    thread.peer_pages.finish();
  }
  return peer;
}

void count_sent(ThreadState& thread, const PendingRequest& request) {
  if (!recording) return;
  if (Peer* const peer = peer_of(thread, request.peer)) {
    ++peer->sent;
    peer->sent_bytes += request.bytes;
  }
}

void count_received(ThreadState& thread, const PendingRequest& request, std::uint64_t waited) {
  if (!recording) return;
  if (Peer* const peer = peer_of(thread, request.peer)) {
    ++peer->received;
    peer->received_bytes += request.bytes;
    peer->wait_ticks += waited;
  }
}

}  // namespace hockney::profile
