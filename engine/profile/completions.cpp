// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/completions.hpp"

#include <string.h>

#include "profile/session.hpp"
#include "profile/trace.hpp"

namespace hockney::profile {

Handle request_of(const Call& call) {
  return call.pointer(request_) ? request_at(call, call.pointer(request_), 0) : mpi.request_null;
}

void keep_request(const Call& call, const PendingRequest& request, bool persistent) {
  const std::uint32_t started = persistent || request.started ? request.started : trace::start(request);
  const Handle handle = request_of(call);
  if (handle == mpi.request_null) return;
  PendingRequest* const kept = new_request();
  if (!kept) return;
  *kept = request;
  kept->started = started;
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
  add_request(kept, handle);
}

void completed_request(const Call& call, ThreadState& thread, const SiteState& site, PendingRequest& request,
                       const void* status, Interval interval, bool alone) {
  if (request.role == Role::receive && request.of) {
    const Received received = received_of(call, status);
    if (received.cancelled) {
      request.cancelled = true;
      return withdraw_receive(thread, request);
    }
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

namespace {

const void* status_at(const Call& call, std::int64_t k) {
  if (call.has(status_)) return call.pointer(status_);
  if (!call.has(statuses_)) return nullptr;
  const void* const all = call.pointer(statuses_);
  return mpi.ignored(all, call.fortran()) ? nullptr : static_cast<const char*>(all) + k * mpi.status_bytes;
}

}  // namespace

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
    trace::end(request);
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

void fail_requests(const Call& call, ThreadState& thread, SiteState& site, Interval interval) {
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
    trace::end(*request);
    remove_request(request);
  }
}

void release_claims(const Call& call, ThreadState& thread) {
  for (std::uint32_t k = 0; k < call.waits; ++k)
    if (thread.waits[k]) release_request(thread.waits[k]);
}

}  // namespace hockney::profile
