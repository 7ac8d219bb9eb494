// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds the calls of MPI functions to the profile. Arguments are decoded after the call, when MPI has accepted
// them: earlier, an invalid handle would reach MPI through our own call, with a different error.
#include <stdio.h>
#include <string.h>

#include "profile/call.hpp"
#include "profile/completions.hpp"
#include "profile/messages.hpp"
#include "profile/regions.hpp"
#include "profile/session.hpp"
#include "profile/sizes.hpp"
#include "profile/trace.hpp"

namespace hockney::profile {
namespace {

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

// Records the effects of a call that returned an error: MPI_Waitall may have completed some requests, and a
// message that was too long for its buffer is lost.
[[gnu::cold, gnu::noinline]] void failed_call(const Call& call, ThreadState& thread, SiteState& site,
                                              Interval interval) {
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
        trace::add(trace::part_of(sent, What::send));
      }
      PendingRequest received =
          message_of(call, site, *on, Role::receive,
                     {call.integer(source_), call.integer(both ? receive_tag_ : tag_), -1});
      trace::add(trace::part_of(received, What::receive));
      if (received.wildcard) return lose_receives(*on);
      number_receive(received, *on);
      if (received.doubt) end_doubt(thread, received, nullptr, interval);
      return;
    }
    case Class::receive_message:
      if (PendingRequest* const matched = claim_request(thread.saved ^ messages)) {
        if (matched->doubt) end_doubt(thread, *matched, nullptr, interval);
        trace::end(*matched);
        remove_request(matched);
      }
      return;
    default: break;
  }
  fail_requests(call, thread, site, interval);
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

// What the other side of a call is, for a look at the running program. Nothing is asked of MPI.
void announce(const Call& call, ThreadState& thread) {
  Thread& live = *thread.live;
  live.pending = 0;
  live.started_at = 0;
  if (call.memo) {
    const auto& memo = *static_cast<const MessageMemo*>(call.memo);
    live.peer = memo.message.peer;
    live.wildcard = memo.message.wildcard;
    live.communicator = memo.message.communicator;
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

// Traces the message that a probe found, before the message is resolved.
void trace_probe(const Call& call, const PendingRequest& message) {
  if (!tracing) return;
  TracePart part = trace::part_of(message, What::probe);
  const Received received = received_of(call, call.pointer(status_));
  if (received.known && received.source != mpi.proc_null) {
    part.peer = message.of->in_world(received.source);
    part.tag = received.tag;
    part.bytes = received.bytes < 0 ? 0 : static_cast<std::uint64_t>(received.bytes);
  }
  trace::add(part);
}

void trace_access(const Call& call, Class kind, PendingRequest& request) {
  if (!tracing) return;
  TracePart part = trace::part_of(request, kind == Class::put ? What::put : What::get);
  part.tag = -1;
  if (!call.has(request_)) return trace::add(part);
  part.flags |= starts_request;
  request.started = trace::start(part);
}

// A send or receive, blocking or not.
void decode_message(const Call& call, ThreadState& thread, SiteState& site, Interval interval, Facts& facts) {
  const Class kind = call.function().kind;
  MessageMemo fresh;
  const MessageMemo* memo =
      call.memo ? static_cast<const MessageMemo*>(call.memo) : remember(call, thread, site, &fresh);
  if (!memo) return;
  CommunicatorState& on = *memo->message.of;
  facts.on = &on;
  facts.bytes = memo->bytes;
  facts.distance = memo->message.distance;
  const bool sends = is_sent(kind);
  if (sends && recording && memo->record) {
    ++memo->record->sent;
    memo->record->sent_bytes += memo->message.bytes;
  }
  const bool doubtful = !sends && on.doubts != nullptr;
  const bool numbered = memo->counter && !several_threads && !doubtful && (sends || !on.receives_lost);
  const std::uint32_t number = numbered ? memo->counter->next++ : 0;
  PendingRequest local;
  PendingRequest* message = &local;
  const bool starts = kind == Class::start_send || kind == Class::start_receive;
  if (starts) {
    message = request_of(call) == mpi.request_null ? nullptr : new_request();
    if (!message) return;
    message->started = trace::start(memo->message);
  } else {
    std::uint64_t weight = 0;
    if (sends && tracing) trace::add(trace::part_of(memo->message, What::send));
    const bool timed = numbered && sampled(number, &weight);
    if (sends && !timed) return;
    if (!sends && !timed && !doubtful && !memo->message.wildcard) {
      const Received received = received_of(call, call.pointer(status_));
      if (received.bytes >= 0 && memo->message.peer != -1) facts.bytes = received.bytes;
      if (tracing) {
        TracePart part = trace::part_of(memo->message, What::receive);
        if (facts.bytes > 0) part.bytes = static_cast<std::uint64_t>(facts.bytes);
        trace::add(part);
      }
      if (!recording || !memo->record) return;
      ++memo->record->received;
      if (facts.bytes > 0) memo->record->received_bytes += static_cast<std::uint64_t>(facts.bytes);
      memo->record->wait_ticks += interval.leave - interval.enter;
      return;
    }
    local = PendingRequest{};
  }
  static_cast<Part&>(*message) = memo->message;
  message->posted = call.start;
  message->number = number;
  if (!numbered) message->channel = 0;
  if (kind == Class::send) return add_sample(thread, *message, site, interval);
  if (message->wildcard && starts)
    doubt_receive(*message, on, false);
  else if (doubtful && !message->wildcard)
    number_receive(*message, on);
  if (starts) return add_request(message, request_of(call));
  completed_request(call, thread, site, *message, call.pointer(status_), interval, true);
  facts.bytes = static_cast<std::int64_t>(message->bytes);
  facts.distance = message->distance;
  trace::add(trace::part_of(*message, What::receive));
}

// Functions that are less frequent than messages and waits.
[[gnu::cold, gnu::noinline]] void decode_other(Call& call, ThreadState& thread, SiteState& site,
                                               Interval interval, Facts& facts) {
  const Class kind = call.function().kind;
  switch (kind) {
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
      if (kind == Class::start_send_receive) {
        trace::start(sent);
        received.sends_too = true;
        return keep_request(call, received, false);
      }
      add_sample(thread, sent, site, interval);
      completed_request(call, thread, site, received, call.pointer(status_), interval, false);
      trace::add(trace::part_of(sent, What::send));
      return trace::add(trace::part_of(received, What::receive));
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
      trace_probe(call, message);
      if (!call.has(message_)) {
        if (kind == Class::probe) add_probed(call, thread, message, site, interval);
        return;
      }
      // A matched message is taken out of its channel here.
      if (message.wildcard)
        resolve(message, received_of(call, call.pointer(status_)));
      else
        number_receive(message, *on);
      message.started = trace::start(message);  // which takes the message: MPI_Mrecv ends it
      message.wildcard = false;
      if (kind == Class::probe && !message.doubt) add_sample(thread, message, site, interval);
      const Handle handle = request_at(call, call.pointer(message_), 0) ^ messages;
      if (PendingRequest* const kept = new_request()) {
        *kept = message;
        kept->active = true;
        if (kept->doubt) kept->doubt->request = kept;
        add_request(kept, handle);
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
      trace::end(message);
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
      if (tracing) trace::add(trace::part_of(part, What::collective));
      return add_sample(thread, part, site, interval);
    }
    case Class::neighbors:
    case Class::start_neighbors:
    case Class::prepare_neighbors: {
      facts.on = communicator_in(call, thread);
      facts.bytes = bytes_of(call, thread, receive_count, receive_type);
      PendingRequest part = part_of(call, site, facts.on, Role::collective);
      part.bytes = facts.bytes < 0 ? 0 : static_cast<std::uint64_t>(facts.bytes);
      if (kind == Class::neighbors) return trace::add(trace::part_of(part, What::collective));
      return keep_request(call, part, kind == Class::prepare_neighbors);
    }
    case Class::start:
    case Class::start_all: {
      const bool several = kind == Class::start_all;
      const std::int64_t length = several ? call.integer(length_) : 1;
      const void* const array = call.pointer(several ? requests_ : request_);
      for (std::int64_t k = 0; k < length; ++k) {
        PendingRequest* const request = persistent_request(request_at(call, array, k));
        if (!request) continue;
        request->active = true;
        request->cancels = request->cancelled = false;
        request->posted = interval.enter;
        request->bytes = request->given_bytes;
        if (request->role != Role::collective) {
          request->peer = request->given_peer;
          request->tag = request->given_tag;
          if (request->distance != Distance::none) request->distance = world.distance(request->peer);
        }
        request->started = trace::start(*request);
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
      if (together)
        trace::add(trace::part_of(part_of(call, site, parent, Role::collective), What::collective));
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
      trace::add(trace::part_of(part_of(call, site, facts.on, Role::collective), What::collective));
      return add_window(handle_behind(call, window_), facts.on);
    case Class::free_window:
      if (const CommunicatorState* const on = window_state(thread.saved))
        trace::add(trace::part_of(part_of(call, site, on, Role::collective), What::synchronize));
      return remove_window(thread.saved);
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
      trace_access(call, kind, part);
      if (call.has(request_)) keep_request(call, part, false);
      return;
    }
    case Class::fence: {
      CommunicatorState* const on = facts.on = window_state(window_of(call));
      if (!on) return;
      PendingRequest part = part_of(call, site, on, Role::collective);
      part.channel = on->inter ? 0 : on->key;
      part.number = on->collectives++;
      trace::add(trace::part_of(part, What::synchronize));
      return add_sample(thread, part, site, interval);
    }
    case Class::synchronize_window: {
      CommunicatorState* const on = facts.on = window_state(window_of(call));
      if (!on) return;
      TracePart part = trace::part_of(part_of(call, site, on, Role::collective), What::synchronize);
      if (call.has(destination_)) {
        part.peer = on->in_world(call.integer(destination_));
        facts.distance = world.distance(part.peer);
      }
      return trace::add(part);
    }
    case Class::open_file:
      facts.on = communicator_in(call, thread);
      trace::add(trace::part_of(part_of(call, site, facts.on, Role::collective), What::collective));
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
    default: return;
  }
}

void decode(Call& call, ThreadState& thread, SiteState& site, Interval interval, Facts& facts) {
  const Class kind = call.function().kind;
  if (is_message(kind)) return decode_message(call, thread, site, interval, facts);
  if (waits(kind)) return complete_requests(call, thread, site, interval, facts);
  decode_other(call, thread, site, interval, facts);
}

// Reads values before the call changes them.
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

}  // namespace
}  // namespace hockney::profile

using namespace hockney::profile;

// Assembly calls these two, which the compiler does not see.
extern "C" __attribute__((visibility("hidden"), used)) void* hockney_profile_enter(Call* call,
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
  if (counting && tracing && functions[symbols[symbol].function].kind != Class::clock) trace::count_enter();
  thread->depth = 1;
  thread->outermost = reinterpret_cast<std::uint64_t>(call->stack);
  thread->return_slot = call->return_slot();
  thread->return_address = call->return_address;
  SiteState* const site = site_of(*thread, *call);
  const Symbol& called = symbols[symbol];
  call->what = &functions[called.function];
  call->language = called.language;
  call->words = called.stack_words;
  call->waits = 0;
  const Class kind = call->function().kind;
  if (kind == Class::clock) {
    call->site = site;
    call->thread = thread;
    *thread->error_number = error;
    return function;
  }
  call->memo = is_message(kind) ? remembered(*call, *site) : nullptr;
  announce(*call, *thread);
  save(*call, *thread);
  if (kind == Class::finalize) end(*thread);
  if (kind == Class::finalize_session) before_session_ends();
  Thread& live = *thread->live;
  live.function = called.function;
  live.site = site->record ? site->record->id : 0;
  call->site = site;
  call->thread = thread;
  *thread->error_number = error;
  live.since = call->start = ticks();
  __atomic_store_n(&live.depth, 1, __ATOMIC_RELEASE);
  return function;
}

namespace hockney::profile {
namespace {

// A program may read the clock in a loop to wait; this does not count as time in MPI.
void count_clock(const Call& call) {
  ThreadState& thread = *call.thread;
  const int error = *thread.error_number;
  if (recording) {
    Entry* const entry = call.site->record ? entry_of(thread, *call.site, call, Facts{}) : nullptr;
    if (entry) {
      ++entry->calls;
      entry->least = 0;
    } else {
      __atomic_add_fetch(&header->lost, 1, __ATOMIC_RELAXED);
    }
    ++thread.live->calls;
  }
  thread.depth = 0;
  *thread.error_number = error;
}

}  // namespace
}  // namespace hockney::profile

extern "C" __attribute__((visibility("hidden"), used)) void hockney_profile_leave(Call* call) {
  if (call->function().kind == Class::clock) return count_clock(*call);
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
  bool miss = false;
  if (!site.record) {
    if (recording) __atomic_add_fetch(&header->lost, 1, __ATOMIC_RELAXED);
  } else {
    Facts facts;
    if (!failed && (active || kind == Class::control)) decode(*call, thread, site, {call->start, now}, facts);
    if (failed && active) failed_call(*call, thread, site, {call->start, now});
    miss = facts.miss;
    if (recording) {
      if (Entry* const entry = entry_of(thread, site, *call, facts)) {
        ++entry->calls;
        if (facts.bytes > 0) entry->bytes += static_cast<std::uint64_t>(facts.bytes);
        entry->ticks += took;
        if (took < entry->least) entry->least = took;
        if (took > entry->most) entry->most = took;
        if (facts.miss) ++entry->misses;
        if (facts.completed) entry->waited += facts.completed;
        std::uint32_t& bin = entry->bins[time_bin(took)];
        if (bin != ~std::uint32_t{0}) ++bin;
      } else {
        __atomic_add_fetch(&header->lost, 1, __ATOMIC_RELAXED);
      }
    }
  }
  if (waits(kind)) release_claims(*call, thread);
  if (tracing)
    trace::call(*call, site.record ? site.record->id : 0, miss,
                kind == Class::finalize ? header->finalize_enter : call->start, begins ? ticks() : now);
  if (active && recording) thread.in_mpi += took;
  Thread& live = *thread.live;
  if (recording) ++live.calls;
  if ((live.calls & 4095) == 0) update_clock();
  live.since = now;
  __atomic_store_n(&live.depth, 0, __ATOMIC_RELEASE);
  thread.depth = 0;
  if (kind == Class::finalize_session && !failed) end_session();
  if (kind == Class::finalize && !failed) {
    end_trace();
    finish();
  }
  if (counting && tracing) trace::count_leave();
  *thread.error_number = error;
}
