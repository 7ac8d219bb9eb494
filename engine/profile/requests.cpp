// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/requests.hpp"

#include "profile/communicators.hpp"
#include "profile/rank_file.hpp"

namespace hockney::profile {

bool several_threads = false;

namespace {

constexpr std::uint32_t request_buckets = 4096;
constexpr std::uint32_t at_once = 1024;  // requests for which memory is added
constexpr std::uint32_t most_requests = 1 << 20;

struct Bucket {
  PendingRequest *first, *last;
  bool taken;
};
Bucket table[request_buckets];
PendingRequest* unused;
bool unused_taken;
std::uint32_t made;

Bucket& bucket_of(Handle handle) {
  std::uint64_t mixed = handle * 0x9e3779b97f4a7c15ULL;
  return table[mixed >> 52];
}

// Threads contend here only if they use requests of the same bucket simultaneously.
struct Hold {
  bool* const flag;
  explicit Hold(bool& taken) : flag(several_threads ? &taken : nullptr) {
    while (flag && __atomic_test_and_set(flag, __ATOMIC_ACQUIRE)) {
    }
  }
  ~Hold() {
    if (flag) __atomic_clear(flag, __ATOMIC_RELEASE);
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
};

void give_back(PendingRequest* request) {
  const Hold hold(unused_taken);
  request->next = unused;
  unused = request;
}

void unlink(Bucket& bucket, PendingRequest* request) {
  PendingRequest* before = nullptr;
  for (PendingRequest* each = bucket.first; each; before = each, each = each->next) {
    if (each != request) continue;
    (before ? before->next : bucket.first) = request->next;
    if (bucket.last == request) bucket.last = before;
    return;
  }
}

}  // namespace

PendingRequest* new_request() {
  const Hold hold(unused_taken);
  if (!unused && made < most_requests) {
    auto* const more = static_cast<PendingRequest*>(private_memory(at_once * sizeof(PendingRequest)));
    if (!more) return nullptr;
    for (std::uint32_t k = 0; k < at_once; ++k) {
      more[k].next = unused;
      unused = &more[k];
    }
    made += at_once;
  }
  PendingRequest* const request = unused;
  if (!request) return nullptr;
  unused = request->next;
  request->doubt = nullptr;
  request->made = nullptr;
  request->persistent = request->claimed = request->cancels = request->partitioned = false;
  request->cancelled = request->sends_too = false;
  request->active = true;
  request->started = 0;
  return request;
}

void add_request(PendingRequest* request, Handle handle) {
  request->handle = handle;
  request->next = nullptr;
  Bucket& bucket = bucket_of(handle);
  const Hold hold(bucket.taken);
  (bucket.last ? bucket.last->next : bucket.first) = request;
  bucket.last = request;
}

PendingRequest* claim_request(Handle handle) {
  Bucket& bucket = bucket_of(handle);
  const Hold hold(bucket.taken);
  for (PendingRequest* each = bucket.first; each; each = each->next)
    if (each->handle == handle && each->active && !each->claimed) {
      each->claimed = true;
      return each;
    }
  return nullptr;
}

void release_request(PendingRequest* request) {
  request->claimed = false;
}

void remove_request(PendingRequest* request) {
  if (request->persistent) {
    request->active = request->claimed = false;
    return;
  }
  {
    Bucket& bucket = bucket_of(request->handle);
    const Hold hold(bucket.taken);
    unlink(bucket, request);
  }
  give_back(request);
}

bool forget_request(Handle handle, PendingRequest* copy) {
  PendingRequest* found = nullptr;
  {
    Bucket& bucket = bucket_of(handle);
    const Hold hold(bucket.taken);
    for (PendingRequest* each = bucket.first; each && !found; each = each->next)
      if (each->handle == handle && !each->claimed) found = each;
    if (found) unlink(bucket, found);
  }
  if (!found) return false;
  *copy = *found;
  give_back(found);
  return true;
}

void cancel_request(Handle handle) {
  Bucket& bucket = bucket_of(handle);
  const Hold hold(bucket.taken);
  for (PendingRequest* each = bucket.first; each; each = each->next)
    if (each->handle == handle && each->active && !each->cancels) {
      each->cancels = true;
      return;
    }
}

PendingRequest* persistent_request(Handle handle) {
  Bucket& bucket = bucket_of(handle);
  const Hold hold(bucket.taken);
  for (PendingRequest* each = bucket.first; each; each = each->next)
    if (each->handle == handle && each->persistent) return each;
  return nullptr;
}

}  // namespace hockney::profile
