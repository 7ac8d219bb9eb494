// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// The requests that calls start, wait for and complete.
#pragma once

#include "profile/messages.hpp"

namespace hockney::profile {

inline bool waits(Class kind) {
  return kind >= Class::wait && kind <= Class::test_some;
}

Handle request_of(const Call& call);

// Registers a request that the call has started.
void keep_request(const Call& call, const PendingRequest& request, bool persistent);

// `alone`: the call waited for this request only.
void completed_request(const Call& call, ThreadState& thread, const SiteState& site, PendingRequest& request,
                       const void* status, Interval interval, bool alone);

// Claims the requests that a call waits for.
void claim_requests(Call& call, ThreadState& thread);

// Determines which of them are complete, and records their messages.
void complete_requests(const Call& call, ThreadState& thread, SiteState& site, Interval interval,
                       Facts& facts);

// Handles an error of a call that waits.
void fail_requests(const Call& call, ThreadState& thread, SiteState& site, Interval interval);

// Of the requests that the call waited for in vain.
void release_claims(const Call& call, ThreadState& thread);

}  // namespace hockney::profile
