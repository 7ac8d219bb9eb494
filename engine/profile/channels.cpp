// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/channels.hpp"

#include "profile/session.hpp"

namespace hockney::profile {
namespace {

constexpr std::uint32_t most_channels = 1 << 15;
Channel* channels;
std::uint32_t used_channels;

constexpr std::uint32_t doubts_at_once = 256, most_doubts = 1 << 16;
Doubt* unused_doubts = nullptr;
std::uint32_t made_doubts = 0;

bool may_take(const Doubt& doubt, int peer, int tag) {
  return (doubt.peer == -1 || doubt.peer == peer) && (doubt.any_tag || doubt.tag == tag);
}

}  // namespace

std::uint64_t channel_of(const CommunicatorState& on, int sender, int receiver, int tag) {
  if (several_threads || sender < 0 || receiver < 0) return 0;
  const std::uint64_t pair = static_cast<std::uint64_t>(static_cast<std::uint32_t>(sender)) << 32 |
                             static_cast<std::uint32_t>(receiver);
  return mix(mix(on.key, pair), static_cast<std::uint32_t>(tag)) | 1;
}

Channel* counter_of(std::uint64_t* channel, bool sends) {
  if (!*channel) return nullptr;
  if (!channels) channels = static_cast<Channel*>(private_memory(most_channels * sizeof(Channel)));
  const std::uint64_t key = sends ? *channel : ~*channel;
  std::uint32_t k = static_cast<std::uint32_t>(key >> 20) % most_channels;
  while (channels && channels[k].key && channels[k].key != key) k = (k + 1) % most_channels;
  if (!channels || (!channels[k].key && used_channels == most_channels * 3 / 4)) {
    *channel = 0;
    return nullptr;
  }
  if (!channels[k].key) ++used_channels;
  channels[k].key = key;
  return &channels[k];
}

void set_channel(PendingRequest& request, CommunicatorState& on, bool sends) {
  const int mine = world.rank;
  request.channel = sends              ? channel_of(on, mine, request.peer, request.tag)
                    : on.receives_lost ? 0
                                       : channel_of(on, request.peer, mine, request.tag);
  Channel* const counter = counter_of(&request.channel, sends);
  request.number = counter ? counter->next++ : 0;
}

[[gnu::cold, gnu::noinline]] void lose_receives(CommunicatorState& on) {
  __atomic_add_fetch(&header->unmatched, 1, __ATOMIC_RELAXED);
  on.receives_lost = true;
  if (several_threads) return;
  while (Doubt* const doubt = on.doubts) {
    on.doubts = doubt->next;
    if (doubt->request) doubt->request->doubt = nullptr;
    doubt->next = unused_doubts;
    unused_doubts = doubt;
  }
  on.last_doubt = nullptr;
}

[[gnu::cold, gnu::noinline]] void doubt_receive(PendingRequest& request, CommunicatorState& on,
                                                bool resolved) {
  request.channel = 0;
  if (several_threads || on.receives_lost) return;
  if (!unused_doubts && made_doubts < most_doubts)
    if (auto* const more = static_cast<Doubt*>(private_memory(doubts_at_once * sizeof(Doubt)))) {
      for (std::uint32_t k = 0; k < doubts_at_once; ++k) {
        more[k].next = unused_doubts;
        unused_doubts = &more[k];
      }
      made_doubts += doubts_at_once;
    }
  Doubt* const doubt = unused_doubts;
  if (!doubt) return lose_receives(on);
  unused_doubts = doubt->next;
  *doubt = Doubt{};
  doubt->request = &request;
  doubt->peer = request.peer;
  doubt->tag = request.tag;
  doubt->any_tag = !resolved && request.tag == mpi.any_tag;
  doubt->resolved = resolved;
  request.doubt = doubt;
  (on.last_doubt ? on.last_doubt->next : on.doubts) = doubt;
  on.last_doubt = doubt;
}

bool in_doubt(const CommunicatorState& on, int peer, int tag) {
  for (const Doubt* each = several_threads ? nullptr : on.doubts; each; each = each->next)
    if (may_take(*each, peer, tag)) return true;
  return false;
}

void number_receive(PendingRequest& request, CommunicatorState& on) {
  if (in_doubt(on, request.peer, request.tag)) return doubt_receive(request, on, true);
  set_channel(request, on, false);
}

namespace {

// Numbers the receives that no earlier one can change any more.
[[gnu::cold, gnu::noinline]] void settle(ThreadState& thread, CommunicatorState& on) {
  constexpr int most_before = 64;
  const Doubt* before[most_before];
  int count = 0;
  Doubt* previous = nullptr;
  for (Doubt* each = on.doubts; each;) {
    bool open = !each->resolved, counted = false;
    for (int k = 0; k < count && !(open && counted); ++k) {
      if (each->resolved && may_take(*before[k], each->peer, each->tag)) open = true;
      counted = counted || (before[k]->peer == each->peer && before[k]->any_tag == each->any_tag &&
                            (each->any_tag || before[k]->tag == each->tag));
    }
    if (open) {
      if (!counted) {
        if (count == most_before) return;
        before[count++] = each;
      }
      previous = each;
      each = each->next;
      continue;
    }
    PendingRequest& request = each->request ? *each->request : each->ended;
    request.peer = each->peer;
    request.tag = each->tag;
    set_channel(request, on, false);
    request.doubt = nullptr;
    if (!each->request && each->site) add_sample(thread, request, *each->site, each->interval);
    Doubt* const next = each->next;
    (previous ? previous->next : on.doubts) = next;
    if (on.last_doubt == each) on.last_doubt = previous;
    each->next = unused_doubts;
    unused_doubts = each;
    each = next;
  }
}

}  // namespace

[[gnu::cold, gnu::noinline]] void end_doubt(ThreadState& thread, PendingRequest& request,
                                            const SiteState* site, Interval interval) {
  Doubt& doubt = *request.doubt;
  request.doubt = nullptr;
  doubt.ended = request;
  doubt.request = nullptr;
  doubt.site = site;
  doubt.interval = interval;
  if (!several_threads) settle(thread, *request.of);
}

[[gnu::cold, gnu::noinline]] void withdraw_receive(ThreadState& thread, PendingRequest& request) {
  CommunicatorState& on = *request.of;
  if (several_threads || on.receives_lost) return;
  if (Doubt* const doubt = request.doubt) {
    request.doubt = nullptr;
    Doubt* previous = nullptr;
    for (Doubt* each = on.doubts; each && each != doubt; each = each->next) previous = each;
    (previous ? previous->next : on.doubts) = doubt->next;
    if (on.last_doubt == doubt) on.last_doubt = previous;
    doubt->next = unused_doubts;
    unused_doubts = doubt;
    return settle(thread, on);
  }
  if (!request.channel) return;
  Channel* const counter = counter_of(&request.channel, false);
  if (counter && counter->next == request.number + 1)
    --counter->next;
  else
    lose_receives(on);
}

void add_sample(ThreadState& thread, const PendingRequest& request, const SiteState& site,
                Interval interval) {
  std::uint64_t weight = 0;
  if (!request.channel || !recording || !sampled(request.number, &weight)) return;
  Sample* const sample = thread.sample_pages.add(thread.id);
  if (!sample) return;
  sample->channel = request.channel;
  sample->number = request.number;
  sample->role = static_cast<std::uint8_t>(request.role);
  sample->distance = static_cast<std::uint8_t>(request.distance);
  sample->function = request.function;
  sample->site = request.site;
  sample->wait_site = site.record->id;
  sample->bytes = request.bytes;
  sample->posted = request.posted;
  sample->enter = interval.enter;
  sample->leave = interval.leave;
  sample->peer = request.peer;
  sample->communicator = request.communicator;
  thread.sample_pages.finish();
}

}  // namespace hockney::profile
