// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// What a call of an MPI function adds to the profile. Arguments are decoded after the call, when MPI has
// accepted them: before it, a wrong handle would reach MPI through a call of ours, with another error.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "profile/call.hpp"
#include "profile/channels.hpp"
#include "profile/communicators.hpp"
#include "profile/mpi_library.hpp"
#include "profile/requests.hpp"
#include "profile/session.hpp"
#include "profile/threads.hpp"

namespace hockney::profile {
namespace {

std::uint64_t paused_since = 0;  // MPI_Pcontrol(0)
std::uint16_t region = 0;        // the current one
Region* regions[256];
std::uint32_t region_count = 0;

// Added to the handles of matched messages, which are kept among the requests.
constexpr Handle messages = 0x6d65737361676573ULL;

std::uint8_t size_class_of(std::int64_t bytes) {
  if (bytes < 0) return 0;
  return bytes == 0 ? 1 : static_cast<std::uint8_t>(65 - __builtin_clzll(static_cast<std::uint64_t>(bytes)));
}

int time_bin(std::uint64_t took) {
  const int bin = took ? 63 - __builtin_clzll(took) - first_time_bin : 0;
  return bin < 0 ? 0 : bin >= time_bins ? time_bins - 1 : bin;
}

std::int64_t size_of_type(ThreadState& thread, Handle type) {
  if (type == mpi.type_null) return -1;  // MPI would call an error handler
  auto& known = thread.types[(type ^ type >> 6) % ThreadState::recent_types];
  if (known.type == type && known.epoch == communicator_epoch) return static_cast<std::int64_t>(known.bytes);
  std::int64_t bytes = -1;
  int narrow = 0;
  if (mpi.type_size_c) {
    if (mpi.type_size_c(type, &bytes) != 0) return -1;
  } else {
    if (mpi.type_size(type, &narrow) != 0 || narrow < 0) return -1;
    bytes = narrow;
  }
  known = {type, static_cast<std::uint64_t>(bytes), communicator_epoch};
  return bytes;
}

// What is known of a call once it has ended.
struct Facts {
  std::int64_t bytes = -1;
  Distance distance = Distance::none;
  CommunicatorState* on = nullptr;
  bool miss = false;
  std::uint32_t completed = 0;
};

Entry* entry_of(ThreadState& thread, SiteState& site, const Call& call, const Facts& facts) {
  const std::uint32_t id = facts.on ? facts.on->id : 0;
  const std::uint64_t key = static_cast<std::uint64_t>(id & 0xffff) << 48 |
                            static_cast<std::uint64_t>(region & 0xff) << 40 |
                            static_cast<std::uint64_t>(size_class_of(facts.bytes)) << 32 |
                            static_cast<std::uint64_t>(facts.distance) << 24 | call.symbol << 1 | 1;
  if (site.entry_key == key) return site.entry;
  const std::uint64_t full = mix(key, site.record->id);
  std::uint32_t k = static_cast<std::uint32_t>(full >> 30) % ThreadState::most_entries;
  while (thread.entries[k].entry && thread.entries[k].key != full) k = (k + 1) % ThreadState::most_entries;
  if (!thread.entries[k].entry) {
    if (thread.used_entries == ThreadState::most_entries * 3 / 4) return nullptr;
    Entry* const entry = thread.entry_pages.add(thread.id);
    if (!entry) return nullptr;
    entry->site = site.record->id;
    entry->function = call.called().function;
    entry->size_class = size_class_of(facts.bytes);
    entry->distance = facts.distance;
    entry->communicator = id;
    entry->region = region;
    entry->language = static_cast<std::uint16_t>(call.called().language);
    entry->least = ~std::uint64_t{0};
    thread.entry_pages.finish();
    ++thread.used_entries;
    thread.entries[k] = {full, entry};
  }
  site.entry_key = key;
  site.entry = thread.entries[k].entry;
  return site.entry;
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

struct Received {
  int source, tag;
  std::int64_t bytes;  // -1: unknown
  bool known, cancelled;
};

// What a status tells of the message that was received.
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

// One message, or one side of it.
struct Message {
  int rank, tag;  // of the other side, as the program gave them
  std::int64_t bytes;
};

std::int64_t bytes_of(const Call& call, ThreadState& thread, Parameter how_many, Parameter type) {
  if (!call.has(how_many) || !call.has(type)) return -1;
  const std::int64_t size = size_of_type(thread, type_of(call, type));
  std::int64_t bytes = size < 0 ? -1 : size * call.count(how_many);
  if (bytes >= 0 && call.has(partitions_)) bytes *= call.integer(partitions_);
  return bytes;
}

// Of one block of a vector collective, on average over the members.
std::int64_t mean_block(const Call& call, ThreadState& thread, const CommunicatorState& on,
                        Parameter how_many, Parameter type) {
  // A reduction scatters over the own group, all others have a block for each rank of the other one.
  const int members = type == type_ ? on.local_size : on.size;
  if (!call.has(how_many) || !call.has(type) || members <= 0) return -1;
  const std::int64_t size = size_of_type(thread, type_of(call, type));
  if (size < 0) return -1;
  std::int64_t elements = 0;
  for (int k = 0; k < members; ++k) elements += call.count(how_many, k);
  return elements * size / members;
}

// Bytes of one block of a collective operation. Arguments that MPI ignores, because of MPI_IN_PLACE or the
// rank, are not read.
std::int64_t block_bytes(const Call& call, ThreadState& thread, const CommunicatorState& on) {
  const int root = call.has(root_) ? call.integer(root_) : 0;
  if (call.has(root_) && on.inter && root == mpi.proc_null) return -1;
  if (call.has(count_)) return bytes_of(call, thread, count_, type_);
  if (call.has(receive_types)) return -1;
  if (call.has(root_)) {
    const bool at_root = on.inter ? root == mpi.root : root == on.rank;
    const bool gathers = call.function().gathers;
    if (at_root == gathers)
      return call.has(receive_counts) ? mean_block(call, thread, on, receive_counts, receive_type)
                                      : bytes_of(call, thread, receive_count, receive_type);
    return call.has(send_counts) ? mean_block(call, thread, on, send_counts, send_type)
                                 : bytes_of(call, thread, send_count, send_type);
  }
  const Parameter type = call.has(receive_type) ? receive_type : type_;
  if (call.has(receive_counts)) return mean_block(call, thread, on, receive_counts, type);
  if (call.has(receive_count)) return bytes_of(call, thread, receive_count, type);
  return -1;
}

Handle request_of(const Call& call) {
  return call.pointer(request_) ? request_at(call, call.pointer(request_), 0) : mpi.request_null;
}

// A request that is not a message, as of a call that starts now.
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

// A request as of a message that starts now; it is part of the multiset only if the call is nonblocking.
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

// The arguments of a message, as they are given.
struct Given {
  std::uint64_t count, type, communicator;
  std::int32_t rank, tag;
  bool operator==(const Given&) const = default;
};

Given given_of(const Call& call, bool sends) {
  const Parameter rank = sends ? destination_ : source_;
  if (call.fortran())
    return {static_cast<std::uint64_t>(call.count(count_)), static_cast<std::uint64_t>(call.output(type_)),
            static_cast<std::uint64_t>(call.output(communicator_)), call.integer(rank), call.integer(tag_)};
  return {call.raw(count_), call.raw(type_), call.raw(communicator_),
          static_cast<std::int32_t>(call.raw(rank)), static_cast<std::int32_t>(call.raw(tag_))};
}

// What earlier messages from the same call site with the same arguments have in common.
struct MessageMemo {
  Given given;
  const SiteState* site;
  std::uint32_t epoch;
  std::uint32_t symbol;
  CommunicatorState* on;
  Peer* record;
  Channel* counter;
  std::uint64_t channel;
  std::int64_t bytes;
  std::int32_t peer;
  Distance distance;
  bool wildcard;
};
constexpr std::uint32_t most_memos = 256;
thread_local MessageMemo* memos = nullptr;

bool is_message(Class kind) {
  return kind == Class::send || kind == Class::start_send || kind == Class::receive ||
         kind == Class::start_receive;
}
bool is_sent(Class kind) {
  return kind == Class::send || kind == Class::start_send;
}

MessageMemo* place_of(const Given& given, const SiteState& site) {
  if (!memos && own_state) {
    if (!own_state->memos) own_state->memos = private_memory(most_memos * sizeof(MessageMemo));
    memos = static_cast<MessageMemo*>(own_state->memos);
  }
  const std::uint64_t mixed =
      (reinterpret_cast<std::uint64_t>(&site) / sizeof(SiteState)) * 0x9e3779b97f4a7c15ULL ^
      static_cast<std::uint64_t>(given.rank + given.tag * 16) * 0xff51afd7ed558ccdULL ^
      given.count * 0xc4ceb9fe1a85ec53ULL;
  return memos ? &memos[mixed >> 56] : nullptr;
}

// nullptr if there was no such message.
MessageMemo* remembered(const Call& call, const SiteState& site) {
  const Given given = given_of(call, is_sent(call.function().kind));
  MessageMemo* const memo = place_of(given, site);
  const bool known = memo && memo->site == &site && memo->given == given &&
                     memo->epoch == communicator_epoch && memo->symbol == call.symbol;
  return known ? memo : nullptr;
}

// Fills `fresh`, and remembers it if there is memory.
const MessageMemo* remember(const Call& call, ThreadState& thread, const SiteState& site, MessageMemo* fresh);

const MessageMemo* remember(const Call& call, ThreadState& thread, const SiteState& site,
                            MessageMemo* fresh) {
  const bool sends = is_sent(call.function().kind);
  CommunicatorState* const on = communicator_state(thread, communicator_of(call));
  if (!on) return nullptr;
  fresh->given = given_of(call, sends);
  fresh->site = &site;
  fresh->epoch = communicator_epoch;
  fresh->symbol = call.symbol;
  fresh->on = on;
  fresh->bytes = bytes_of(call, thread, count_, type_);
  PendingRequest message = message_of(call, site, *on, sends ? Role::send : Role::receive,
                                      {fresh->given.rank, fresh->given.tag, fresh->bytes});
  fresh->peer = message.peer;
  fresh->distance = message.distance;
  fresh->wildcard = message.wildcard;
  fresh->channel = message.wildcard ? 0
                   : sends          ? channel_of(*on, world.rank, message.peer, message.tag)
                                    : channel_of(*on, message.peer, world.rank, message.tag);
  fresh->counter = counter_of(&fresh->channel, sends);
  fresh->record = peer_of(thread, message.peer);
  MessageMemo* const place = place_of(fresh->given, site);
  if (!place) return fresh;
  *place = *fresh;
  return place;
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

// The sender of a received message, now that it is known.
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

// The wait of MPI_Probe for a message, whose number is that of the next receive in its channel.
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

void keep_request(const Call& call, const PendingRequest& request, bool persistent) {
  const Handle handle = request_of(call);
  if (handle == mpi.request_null) return;
  PendingRequest* const kept = add_request(handle);
  if (!kept) return;
  PendingRequest* const next = kept->next;
  *kept = request;
  kept->next = next;
  kept->handle = handle;
  kept->persistent = persistent;
  kept->active = !persistent;
  kept->given_peer = request.peer;
  kept->given_tag = request.tag;
  kept->given_bytes = request.bytes;
  kept->partitioned = call.has(partitions_);
  if (kept->doubt)
    kept->doubt->request = kept;
  else if (kept->wildcard && !persistent)
    doubt_receive(*kept, *kept->of, false);
}

void completed_request(const Call& call, ThreadState& thread, const SiteState& site, PendingRequest& request,
                       const void* status, Interval interval, bool alone) {
  if (request.role == Role::receive && request.of) {
    const Received received = received_of(call, status);
    if (received.cancelled) return withdraw_receive(thread, request);
    if (request.cancels && !received.known) return lose_receives(*request.of);
    resolve(request, received);
    count_received(thread, request, alone ? interval.leave - interval.enter : 0);
    if (request.doubt) return end_doubt(thread, request, &site, interval);
  }
  if (request.made) {
    const Handle made = communicator_at(request.made, request.made_in_fortran);
    if (made != mpi.communicator_null)
      add_communicator(thread, made, request.of, request.function, request.nth);
  }
  add_sample(thread, request, site, interval);
}

const void* status_at(const Call& call, std::int64_t k) {
  if (call.has(status_)) return call.pointer(status_);
  if (!call.has(statuses_)) return nullptr;
  const void* const all = call.pointer(statuses_);
  return mpi.ignored(all, call.fortran()) ? nullptr : static_cast<const char*>(all) + k * mpi.status_bytes;
}

// Claims the requests that a call waits for.
void claim_requests(Call& call, ThreadState& thread) {
  const bool several = call.has(requests_);
  const std::int64_t length = several ? call.integer(length_) : 1;
  call.waits = 0;
  if (length <= 0) return;
  if (length > thread.most_waits) {
    const std::uint32_t room = static_cast<std::uint32_t>(length) * 2 + 64;
    thread.waits = static_cast<PendingRequest**>(private_memory(room * sizeof(PendingRequest*)));
    thread.most_waits = thread.waits ? room : 0;
    if (!thread.waits) return;
  }
  const void* const array = call.pointer(several ? requests_ : request_);
  if (!array) return;
  std::uint32_t pending = 0;
  const PendingRequest* first = nullptr;
  for (std::int64_t k = 0; k < length; ++k) {
    const Handle handle = request_at(call, array, k);
    PendingRequest* const request = handle == mpi.request_null ? nullptr : claim_request(handle);
    thread.waits[k] = request;
    if (!request) {
      if (handle != mpi.request_null && !persistent_request(handle))
        __atomic_add_fetch(&header->unknown_requests, 1, __ATOMIC_RELAXED);
      continue;
    }
    ++pending;
    if (!first || (first->role != Role::receive && request->role == Role::receive)) first = request;
  }
  call.waits = static_cast<std::uint32_t>(length);
  Thread& live = *thread.live;
  live.pending = pending;
  if (first) {
    live.peer = first->peer;
    live.wildcard = first->wildcard;
    live.started_at = first->site;
    live.communicator = first->communicator;
    live.bytes = first->bytes;
  }
}

// Which of them are complete, and what that tells.
void complete_requests(const Call& call, ThreadState& thread, SiteState& site, Interval interval,
                       Facts& facts) {
  const Class kind = call.function().kind;
  bool any = true;
  if (call.has(flag_)) any = call.output(flag_) != 0;
  const bool some = kind == Class::wait_some || kind == Class::test_some;
  const bool one = kind == Class::wait_any || kind == Class::test_any;
  const int base = call.fortran() ? 1 : 0;
  int finished = 0;
  if (some) {
    finished = call.output(completed);
    any = finished != 0;
    if (finished == mpi.undefined) finished = 0;
  }
  facts.miss = !any;
  const auto complete = [&](std::int64_t k, std::int64_t status) {
    if (k < 0 || k >= call.waits || !thread.waits[k]) return;
    PendingRequest& request = *thread.waits[k];
    thread.waits[k] = nullptr;
    completed_request(call, thread, site, request, status_at(call, status), interval, call.waits == 1);
    ++facts.completed;
    if (call.waits == 1) {
      facts.bytes = static_cast<std::int64_t>(request.bytes);
      facts.distance = request.distance;
      facts.on = request.of;
    }
    remove_request(&request);
  };
  // Places count from 1 in Fortran, but MPICH 4.0 has them from 0 in the module mpi_f08.
  const auto is_complete = [&](std::int64_t k) {
    if (k < 0 || k >= call.waits || !thread.waits[k]) return false;
    return thread.waits[k]->persistent || request_at(call, call.pointer(requests_), k) == mpi.request_null;
  };
  const auto place_of_index = [&](std::int64_t index) {
    return base && !is_complete(index - base) && is_complete(index) ? index : index - base;
  };
  if (some) {
    const auto* const places = static_cast<const std::int32_t*>(call.pointer(indices_));
    for (int k = 0; k < finished; ++k) complete(place_of_index(places[k]), k);
  } else if (one) {
    if (any && call.output(index_) != mpi.undefined) complete(place_of_index(call.output(index_)), 0);
  } else if (any) {
    for (std::uint32_t k = 0; k < call.waits; ++k) complete(k, k);
  }
}

// What a call has done that returned an error: MPI_Waitall may have completed some requests, and a message
// that is too long for its buffer is gone.
void failed_call(const Call& call, ThreadState& thread, SiteState& site, Interval interval) {
  const Class kind = call.function().kind;
  CommunicatorState* on = nullptr;
  switch (kind) {
    case Class::receive:
    case Class::send_receive: {
      // Of the classes up to MPI_ERR_RANK are arguments that MPI rejects before it does anything.
      int error_class = 0;
      if (mpi.error_class && mpi.error_class(call.error(), &error_class) == 0 && error_class <= 6) return;
      on = known_communicator(thread, communicator_of(call));
      if (!on) return;
      const bool both = kind == Class::send_receive;
      if (both) {
        const std::int64_t bytes = call.has(count_) ? bytes_of(call, thread, count_, type_)
                                                    : bytes_of(call, thread, send_count, send_type);
        PendingRequest sent =
            message_of(call, site, *on, Role::send, {call.integer(destination_), call.integer(tag_), bytes});
        set_channel(sent, *on, true);
        count_sent(thread, sent);
      }
      PendingRequest received =
          message_of(call, site, *on, Role::receive,
                     {call.integer(source_), call.integer(both ? receive_tag_ : tag_), -1});
      if (received.wildcard) return lose_receives(*on);
      number_receive(received, *on);
      if (received.doubt) end_doubt(thread, received, nullptr, interval);
      return;
    }
    case Class::receive_message:
      if (PendingRequest* const matched = claim_request(thread.saved ^ messages)) {
        if (matched->doubt) end_doubt(thread, *matched, nullptr, interval);
        remove_request(matched);
      }
      return;
    default: break;
  }
  const bool several = call.has(requests_);
  const void* const array = call.waits ? call.pointer(several ? requests_ : request_) : nullptr;
  for (std::uint32_t k = 0; k < call.waits; ++k) {
    PendingRequest* const request = thread.waits[k];
    if (!request) continue;
    if (request->persistent ? call.waits > 1 : request_at(call, array, k) != mpi.request_null) continue;
    thread.waits[k] = nullptr;
    const char* const status = several ? static_cast<const char*>(status_at(call, k)) : nullptr;
    int code = -1;
    if (status) memcpy(&code, status + mpi.tag_at + 4, sizeof code);
    if (code == 0)
      completed_request(call, thread, site, *request, status, interval, false);
    else if (request->role == Role::receive && request->of && request->wildcard)
      lose_receives(*request->of);
    else if (request->doubt)
      end_doubt(thread, *request, nullptr, interval);
    remove_request(request);
  }
}

void release_claims(const Call& call, ThreadState& thread) {
  for (std::uint32_t k = 0; k < call.waits; ++k)
    if (thread.waits[k]) release_request(thread.waits[k]);
}

CommunicatorState* communicator_in(const Call& call, ThreadState& thread) {
  return call.has(communicator_) ? communicator_state(thread, communicator_of(call)) : nullptr;
}

// A handle behind a pointer in C, and by value in Fortran's manner otherwise: of functions that change it.
Handle handle_behind(const Call& call, Parameter which) {
  if (!call.pointer(which)) return 0;
  if (call.fortran()) {
    if (which == window_) return window_of(call);
    if (which == file_) return file_of(call);
    return communicator_of(call, which);
  }
  if (mpi.handle_bytes == 4 && which != file_) return *static_cast<const std::uint32_t*>(call.pointer(which));
  return *static_cast<const std::uint64_t*>(call.pointer(which));
}

// A copy of a text argument, "" if there is none: a program may call MPI_Pcontrol(2) without further
// arguments.
const char* region_name(std::uint64_t address, char* copy, std::size_t size) {
  copy[0] = 0;
  if (address < page_bytes) return copy;
  for (std::size_t k = 0; k + 1 < size; ++k) {
    const std::uint64_t at = address + k;
    if (k == 0 || at % page_bytes == 0) {
      char first = 0;
      const iovec here{&first, 1}, there{reinterpret_cast<void*>(at), 1};
      const ssize_t read = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
      if (read < 0 && errno != ENOSYS && errno != EPERM) return copy[0] = 0, copy;
    }
    copy[k] = *reinterpret_cast<const char*>(at);
    copy[k + 1] = 0;
    if (!copy[k]) return copy;
    if (static_cast<unsigned char>(copy[k]) < ' ') return copy[0] = 0, copy;  // not a text
  }
  return copy;
}

void change_region(ThreadState& thread, const char* name) {
  const std::uint64_t now = ticks();
  if (region) {
    Region& left = *regions[region];
    left.ticks += now - thread.region_since;
    left.in_mpi += thread.in_mpi - thread.region_in_mpi;
    region = 0;
  }
  if (!name || !*name) return;
  std::uint32_t k = 1;
  while (k <= region_count && strncmp(regions[k]->name, name, sizeof regions[k]->name - 1) != 0) ++k;
  if (k > region_count) {
    if (region_count == 255) return;
    Region* const added = thread.region_pages.add(thread.id);
    if (!added) return;
    added->id = static_cast<std::uint16_t>(k);
    snprintf(added->name, sizeof added->name, "%s", name);
    thread.region_pages.finish();
    regions[k] = added;
    region_count = k;
  }
  ++regions[k]->entered;
  region = static_cast<std::uint16_t>(k);
  thread.region_since = now;
  thread.region_in_mpi = thread.in_mpi;
}

void control(const Call& call, ThreadState& thread) {
  const int level = call.integer(level_);
  if (level == 0 && recording) {
    recording = false;
    paused_since = ticks();
  } else if (level == 1 && !recording) {
    recording = true;
    header->paused += ticks() - paused_since;
  } else if (level == 2 && !call.fortran()) {
    char name[sizeof(Region::name)];
    change_region(thread, region_name(call.argument(1), name, sizeof name));
  } else if (level == -2) {
    change_region(thread, nullptr);
  }
}

// What the other side of a call is, for a look at the running program. Nothing is asked of MPI.
void announce(const Call& call, ThreadState& thread) {
  Thread& live = *thread.live;
  live.pending = 0;
  live.started_at = 0;
  if (call.memo) {
    const auto& memo = *static_cast<const MessageMemo*>(call.memo);
    live.peer = memo.peer;
    live.wildcard = memo.wildcard;
    live.communicator = memo.on->id;
    live.bytes = static_cast<std::uint64_t>(memo.bytes);
    return;
  }
  live.peer = -1;
  live.wildcard = 0;
  live.communicator = 0;
  live.bytes = 0;
  if (!call.has(communicator_)) return;
  const CommunicatorState* const on = known_communicator(thread, communicator_of(call));
  if (!on) return;
  live.communicator = on->id;
  const bool receives = call.has(source_) && !call.has(destination_);
  if (!receives && !call.has(destination_)) {
    if (call.has(root_)) live.peer = on->in_world(call.integer(root_));
    return;
  }
  const int other = call.integer(receives ? source_ : destination_);
  live.wildcard = receives && other == mpi.any_source;
  live.peer = live.wildcard ? -1 : on->in_world(other);
}

// A send or receive, blocking or not.
void decode_message(const Call& call, ThreadState& thread, SiteState& site, Interval interval, Facts& facts) {
  const Class kind = call.function().kind;
  MessageMemo fresh;
  const MessageMemo* memo =
      call.memo ? static_cast<const MessageMemo*>(call.memo) : remember(call, thread, site, &fresh);
  if (!memo) return;
  facts.on = memo->on;
  facts.bytes = memo->bytes;
  facts.distance = memo->distance;
  const bool sends = is_sent(kind);
  if (sends && recording && memo->record) {
    ++memo->record->sent;
    if (memo->bytes > 0) memo->record->sent_bytes += static_cast<std::uint64_t>(memo->bytes);
  }
  const bool doubtful = !sends && memo->on->doubts != nullptr;
  const bool numbered = memo->counter && !several_threads && !doubtful && (sends || !memo->on->receives_lost);
  const std::uint32_t number = numbered ? memo->counter->next++ : 0;
  std::uint64_t weight = 0;
  const bool timed = numbered && sampled(number, &weight);
  if (kind == Class::send && !timed) return;
  if (kind == Class::receive && !timed && !doubtful && !memo->wildcard) {
    const Received received = received_of(call, call.pointer(status_));
    if (received.bytes >= 0 && memo->peer != -1) facts.bytes = received.bytes;
    if (!recording || !memo->record) return;
    ++memo->record->received;
    if (facts.bytes > 0) memo->record->received_bytes += static_cast<std::uint64_t>(facts.bytes);
    memo->record->wait_ticks += interval.leave - interval.enter;
    return;
  }
  PendingRequest local;
  PendingRequest* message = &local;
  if (kind == Class::start_send || kind == Class::start_receive) {
    const Handle handle = request_of(call);
    message = handle == mpi.request_null ? nullptr : add_request(handle);
    if (!message) return;
  } else {
    local = PendingRequest{};
  }
  message->posted = call.start;
  message->bytes = memo->bytes < 0 ? 0 : static_cast<std::uint64_t>(memo->bytes);
  message->channel = numbered ? memo->channel : 0;
  message->number = number;
  message->site = site.record->id;
  message->communicator = memo->on->id;
  message->peer = memo->peer;
  message->tag = memo->given.tag;
  message->of = memo->on;
  message->function = call.called().function;
  message->role = sends ? Role::send : Role::receive;
  message->distance = memo->distance;
  message->wildcard = memo->wildcard;
  if (kind == Class::send) return add_sample(thread, *message, site, interval);
  if (message->wildcard && kind == Class::start_receive)
    doubt_receive(*message, *memo->on, false);
  else if (doubtful && !message->wildcard)
    number_receive(*message, *memo->on);
  if (kind != Class::receive) return;
  completed_request(call, thread, site, *message, call.pointer(status_), interval, true);
  facts.bytes = static_cast<std::int64_t>(message->bytes);
  facts.distance = message->distance;
}

void decode(Call& call, ThreadState& thread, SiteState& site, Interval interval, Facts& facts) {
  const Class kind = call.function().kind;
  switch (kind) {
    case Class::send:
    case Class::start_send:
    case Class::receive:
    case Class::start_receive: return decode_message(call, thread, site, interval, facts);
    case Class::prepare_send:
    case Class::prepare_receive: {
      CommunicatorState* const on = facts.on = communicator_in(call, thread);
      if (!on) return;
      const bool sends = kind == Class::prepare_send;
      facts.bytes = bytes_of(call, thread, count_, type_);
      const int rank = call.integer(sends ? destination_ : source_);
      const PendingRequest message = message_of(call, site, *on, sends ? Role::send : Role::receive,
                                                {rank, call.integer(tag_), facts.bytes});
      facts.distance = message.distance;
      return keep_request(call, message, true);
    }
    case Class::send_receive:
    case Class::start_send_receive: {
      CommunicatorState* const on = facts.on = communicator_in(call, thread);
      if (!on) return;
      const bool replaces = call.has(count_);
      facts.bytes =
          replaces ? bytes_of(call, thread, count_, type_) : bytes_of(call, thread, send_count, send_type);
      const std::int64_t incoming =
          replaces ? facts.bytes : bytes_of(call, thread, receive_count, receive_type);
      PendingRequest sent = message_of(call, site, *on, Role::send,
                                       {call.integer(destination_), call.integer(tag_), facts.bytes});
      PendingRequest received = message_of(call, site, *on, Role::receive,
                                           {call.integer(source_), call.integer(receive_tag_), incoming});
      facts.distance = sent.distance > received.distance ? sent.distance : received.distance;
      set_channel(sent, *on, true);
      count_sent(thread, sent);
      if (!received.wildcard) number_receive(received, *on);
      if (kind == Class::start_send_receive) return keep_request(call, received, false);
      add_sample(thread, sent, site, interval);
      return completed_request(call, thread, site, received, call.pointer(status_), interval, false);
    }
    case Class::probe:
    case Class::poll_probe: {
      CommunicatorState* const on = facts.on = communicator_in(call, thread);
      if (!on) return;
      if (kind == Class::poll_probe && !call.output(flag_)) {
        facts.miss = true;
        return;
      }
      PendingRequest message =
          message_of(call, site, *on, Role::receive, {call.integer(source_), call.integer(tag_), -1});
      facts.distance = message.distance;
      if (!call.has(message_)) {
        if (kind == Class::probe) add_probed(call, thread, message, site, interval);
        return;
      }
      // A matched message is taken out of its channel here.
      if (message.wildcard)
        resolve(message, received_of(call, call.pointer(status_)));
      else
        number_receive(message, *on);
      message.wildcard = false;
      if (kind == Class::probe && !message.doubt) add_sample(thread, message, site, interval);
      const Handle handle = request_at(call, call.pointer(message_), 0) ^ messages;
      if (PendingRequest* const kept = add_request(handle)) {
        PendingRequest* const next = kept->next;
        *kept = message;
        kept->next = next;
        kept->handle = handle;
        kept->active = true;
        if (kept->doubt) kept->doubt->request = kept;
      } else if (message.doubt) {
        end_doubt(thread, message, nullptr, interval);
      }
      return;
    }
    case Class::receive_message:
    case Class::start_receive_message: {
      facts.bytes = bytes_of(call, thread, count_, type_);
      PendingRequest* const matched = claim_request(thread.saved ^ messages);
      if (!matched) return;
      PendingRequest message = *matched;
      remove_request(matched);
      message.claimed = false;
      if (message.doubt) message.doubt->request = &message;
      message.posted = call.start;
      message.site = site.record->id;
      message.function = call.called().function;
      message.bytes = facts.bytes < 0 ? 0 : static_cast<std::uint64_t>(facts.bytes);
      facts.on = message.of;
      facts.distance = message.distance;
      if (kind == Class::start_receive_message) return keep_request(call, message, false);
      completed_request(call, thread, site, message, call.pointer(status_), interval, true);
      facts.bytes = static_cast<std::int64_t>(message.bytes);
      return;
    }
    case Class::collective:
    case Class::start_collective:
    case Class::prepare_collective: {
      CommunicatorState* const on = facts.on = communicator_in(call, thread);
      if (!on) return;
      facts.bytes = block_bytes(call, thread, *on);
      PendingRequest part = part_of(call, site, on, Role::collective);
      part.bytes = facts.bytes < 0 ? 0 : static_cast<std::uint64_t>(facts.bytes);
      part.peer = call.has(root_) ? on->in_world(call.integer(root_)) : -1;
      part.of = on;
      if (kind != Class::prepare_collective) {
        part.channel = on->inter ? 0 : on->key;
        part.number = on->collectives++;
      } else {
        part.tag = static_cast<std::int32_t>(++on->prepared);
      }
      if (kind != Class::collective) return keep_request(call, part, kind == Class::prepare_collective);
      return add_sample(thread, part, site, interval);
    }
    case Class::neighbors:
    case Class::start_neighbors:
    case Class::prepare_neighbors: {
      facts.on = communicator_in(call, thread);
      facts.bytes = bytes_of(call, thread, receive_count, receive_type);
      if (kind == Class::neighbors) return;
      PendingRequest part = part_of(call, site, facts.on, Role::collective);
      return keep_request(call, part, kind == Class::prepare_neighbors);
    }
    case Class::wait:
    case Class::wait_all:
    case Class::wait_any:
    case Class::wait_some:
    case Class::test:
    case Class::test_all:
    case Class::test_any:
    case Class::test_some: return complete_requests(call, thread, site, interval, facts);
    case Class::start:
    case Class::start_all: {
      const bool several = kind == Class::start_all;
      const std::int64_t length = several ? call.integer(length_) : 1;
      const void* const array = call.pointer(several ? requests_ : request_);
      for (std::int64_t k = 0; k < length; ++k) {
        PendingRequest* const request = persistent_request(request_at(call, array, k));
        if (!request) continue;
        request->active = true;
        request->cancels = false;
        request->posted = interval.enter;
        request->bytes = request->given_bytes;
        if (!request->of) continue;
        if (request->role == Role::collective) {
          // In a channel of its own: they may be started in any order.
          if (request->channel)
            ++request->number;
          else if (!request->of->inter)
            request->channel = mix(request->of->key, request->given_tag) | 1;
        } else if (request->role == Role::send) {
          if (!request->partitioned) set_channel(*request, *request->of, true);
          count_sent(thread, *request);
        } else if (!request->partitioned) {
          request->peer = request->given_peer;
          request->tag = request->given_tag;
          request->distance = world.distance(request->peer);
          if (request->wildcard)
            doubt_receive(*request, *request->of, false);
          else
            number_receive(*request, *request->of);
        }
        if (!several) {
          facts.on = request->of;
          facts.bytes = static_cast<std::int64_t>(request->bytes);
          facts.distance = request->distance;
        }
      }
      return;
    }
    case Class::free_request: {
      PendingRequest freed;
      if (!forget_request(thread.saved, &freed) || !freed.doubt) return;
      // A receive that goes on, without a call that tells when it ends and what it got.
      if (freed.wildcard) return lose_receives(*freed.of);
      return end_doubt(thread, freed, nullptr, interval);
    }
    case Class::cancel:
      if (call.pointer(request_)) cancel_request(request_of(call));
      return;
    case Class::poll: facts.miss = !call.output(flag_); return;
    case Class::new_communicator: {
      CommunicatorState* const parent = facts.on = communicator_in(call, thread);
      if (!call.pointer(new_communicator_)) return;
      const Handle made = communicator_of(call, new_communicator_);
      // All members of the parent take part, except in MPI_Comm_create_group.
      const bool together = parent && strcmp(call.function().name, "Comm_create_group") != 0;
      const std::uint32_t nth = together ? parent->children++ : of_some_members;
      if (made != mpi.communicator_null) add_communicator(thread, made, parent, call.called().function, nth);
      return;
    }
    case Class::start_communicator: {
      facts.on = communicator_in(call, thread);
      if (!facts.on || !call.pointer(new_communicator_)) return;
      PendingRequest part = part_of(call, site, nullptr, Role::collective);
      part.of = facts.on;
      part.communicator = facts.on->id;
      part.made = call.pointer(new_communicator_);
      part.made_in_fortran = call.fortran();
      part.nth = facts.on->children++;
      return keep_request(call, part, false);
    }
    case Class::free_communicator: return remove_communicator(thread.saved);
    case Class::name_communicator:
      facts.on = communicator_in(call, thread);
      if (facts.on && !call.fortran()) {
        const auto* const name = static_cast<const char*>(call.pointer(name_));
        name_communicator(*facts.on, name, strnlen(name, sizeof(Communicator::name)));
      }
      return;
    case Class::free_type: __atomic_add_fetch(&communicator_epoch, 1, __ATOMIC_RELEASE); return;
    case Class::new_window:
      facts.on = communicator_in(call, thread);
      return add_window(handle_behind(call, window_), facts.on);
    case Class::free_window: return remove_window(thread.saved);
    case Class::put:
    case Class::get: {
      CommunicatorState* const on = facts.on = window_state(window_of(call));
      if (!on) return;
      facts.bytes = call.has(count_) ? bytes_of(call, thread, count_, type_)
                                     : size_of_type(thread, type_of(call, type_));
      PendingRequest part =
          message_of(call, site, *on, Role::send, {call.integer(destination_), 0, facts.bytes});
      facts.distance = part.distance;
      if (Peer* const peer = recording ? peer_of(thread, part.peer) : nullptr)
        (kind == Class::put ? peer->put_bytes : peer->got_bytes) += part.bytes;
      if (call.has(request_)) keep_request(call, part, false);
      return;
    }
    case Class::fence: {
      CommunicatorState* const on = facts.on = window_state(window_of(call));
      if (!on) return;
      PendingRequest part = part_of(call, site, on, Role::collective);
      part.channel = on->inter ? 0 : on->key;
      part.number = on->collectives++;
      return add_sample(thread, part, site, interval);
    }
    case Class::synchronize_window: {
      CommunicatorState* const on = facts.on = window_state(window_of(call));
      if (on && call.has(destination_))
        facts.distance = world.distance(on->in_world(call.integer(destination_)));
      return;
    }
    case Class::open_file:
      facts.on = communicator_in(call, thread);
      return add_file(handle_behind(call, file_), facts.on);
    case Class::close_file: return remove_file(thread.saved);
    case Class::file:
    case Class::start_file: {
      facts.on = file_state(file_of(call));
      facts.bytes = bytes_of(call, thread, count_, type_);
      if (kind == Class::file || !call.has(request_)) return;
      PendingRequest part = part_of(call, site, nullptr, Role::send);
      part.bytes = facts.bytes < 0 ? 0 : static_cast<std::uint64_t>(facts.bytes);
      return keep_request(call, part, false);
    }
    case Class::control: return control(call, thread);
    case Class::local:
      // A call that only starts something, such as MPI_Grequest_start.
      if (call.has(request_) && call.function().starts) {
        PendingRequest part = part_of(call, site, nullptr, Role::collective);
        keep_request(call, part, false);
      }
      return;
    case Class::init:
    case Class::session:
    case Class::finalize:
    case Class::finalize_session:
    case Class::abort: return;
  }
}

// What must be read before the call changes it.
void save(Call& call, ThreadState& thread) {
  switch (call.function().kind) {
    case Class::wait:
    case Class::wait_all:
    case Class::wait_any:
    case Class::wait_some:
    case Class::test:
    case Class::test_all:
    case Class::test_any:
    case Class::test_some: return claim_requests(call, thread);
    case Class::free_request: thread.saved = request_of(call); return;
    case Class::receive_message:
    case Class::start_receive_message:
      thread.saved = call.pointer(message_) ? request_at(call, call.pointer(message_), 0) : 0;
      return;
    case Class::free_communicator: thread.saved = handle_behind(call, communicator_); return;
    case Class::free_window: thread.saved = handle_behind(call, window_); return;
    case Class::close_file: thread.saved = handle_behind(call, file_); return;
    default: return;
  }
}

bool waits(Class kind) {
  return kind >= Class::wait && kind <= Class::test_some;
}

}  // namespace
}  // namespace hockney::profile

using namespace hockney::profile;

extern "C" __attribute__((visibility("hidden"))) void* hockney_profile_enter(Call* call,
                                                                             std::uint32_t symbol) {
  call->symbol = symbol;
  call->thread = nullptr;
  void* function = __atomic_load_n(&real[symbol], __ATOMIC_ACQUIRE);
  if (!function) function = next(symbol, call->return_address);
  if (!folder) return function;
  ThreadState* const thread = this_thread();
  if (!thread) return function;
  if (thread->depth) {
    const bool deeper = reinterpret_cast<std::uint64_t>(call->stack) < thread->outermost;
    if (deeper && *thread->return_slot == thread->return_address) return function;
    thread->depth = 0;  // the earlier call was left by a jump
  }
  if (!mpi.library && !recognize(function)) {
    fprintf(stderr, "hockney profile: the MPI library of this program is not known; nothing is recorded\n");
    folder = nullptr;
    return function;
  }
  const int error = *thread->error_number;
  thread->depth = 1;
  thread->outermost = reinterpret_cast<std::uint64_t>(call->stack);
  thread->return_slot = call->return_slot();
  thread->return_address = call->return_address;
  SiteState* const site = site_of(*thread, *call);
  call->waits = 0;
  call->words = call->called().stack_words;
  const Class kind = call->function().kind;
  call->memo = is_message(kind) ? remembered(*call, *site) : nullptr;
  announce(*call, *thread);
  save(*call, *thread);
  if (kind == Class::finalize) end(*thread);
  if (kind == Class::finalize_session) before_session_ends();
  Thread& live = *thread->live;
  live.function = call->called().function;
  live.site = site->record ? site->record->id : 0;
  call->site = site;
  call->thread = thread;
  *thread->error_number = error;
  live.since = call->start = ticks();
  __atomic_store_n(&live.depth, 1, __ATOMIC_RELEASE);
  return function;
}

extern "C" __attribute__((visibility("hidden"))) void hockney_profile_leave(Call* call) {
  const std::uint64_t now = ticks();
  ThreadState& thread = *call->thread;
  const int error = *thread.error_number;
  SiteState& site = *call->site;
  const Class kind = call->function().kind;
  const std::uint64_t took = now - call->start;
  const bool failed = call->error() != 0;
  if (failed) __atomic_add_fetch(&header->failed, 1, __ATOMIC_RELAXED);
  const bool begins = kind == Class::init || kind == Class::session;
  if (begins && !failed) begin(thread, *call);
  const bool active = started && !ended && !begins && kind != Class::finalize;
  if (!site.record) {
    if (recording) __atomic_add_fetch(&header->lost, 1, __ATOMIC_RELAXED);
  } else {
    Facts facts;
    if (!failed && (active || kind == Class::control)) decode(*call, thread, site, {call->start, now}, facts);
    if (failed && active) failed_call(*call, thread, site, {call->start, now});
    if (recording) {
      if (Entry* const entry = entry_of(thread, site, *call, facts)) {
        ++entry->calls;
        if (facts.bytes > 0) entry->bytes += static_cast<std::uint64_t>(facts.bytes);
        entry->ticks += took;
        if (took < entry->least) entry->least = took;
        if (took > entry->most) entry->most = took;
        entry->misses += facts.miss;
        entry->waited += facts.completed;
        std::uint32_t& bin = entry->bins[time_bin(took)];
        if (bin != ~std::uint32_t{0}) ++bin;
      } else {
        __atomic_add_fetch(&header->lost, 1, __ATOMIC_RELAXED);
      }
    }
  }
  if (waits(kind)) release_claims(*call, thread);
  if (active && recording) thread.in_mpi += took;
  Thread& live = *thread.live;
  if (recording) ++live.calls;
  if ((live.calls & 4095) == 0) update_clock();
  live.since = now;
  __atomic_store_n(&live.depth, 0, __ATOMIC_RELEASE);
  thread.depth = 0;
  if (kind == Class::finalize_session && !failed) end_session();
  if (kind == Class::finalize && !failed) finish();
  *thread.error_number = error;
}
