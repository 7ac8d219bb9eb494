// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/communicators.hpp"

#include <string.h>

#include "profile/threads.hpp"

namespace hockney::profile {

World world;
std::uint32_t communicator_epoch = 1;

namespace {

constexpr std::uint32_t buckets = 256;
constexpr std::uint32_t states_at_once = 1024;
constexpr std::uint32_t described_each =
    1024;  // communicators; later ones may share the record of an earlier one

struct Table {
  CommunicatorState* bucket[buckets];
  CommunicatorState*& at(Handle handle) { return bucket[mix(handle, 7) % buckets]; }
};
Table communicators, windows, files;
CommunicatorState* states;
std::uint32_t used_states = states_at_once;
std::uint32_t last_id;
CommunicatorState* freed;  // communicators with records, whose handles are not valid any more

// Held while a table changes and while it is searched by a thread that does not remember its last one.
struct Lock {
  static inline bool taken = false;
  Lock() {
    while (__atomic_test_and_set(&taken, __ATOMIC_ACQUIRE)) {
    }
  }
  ~Lock() { __atomic_clear(&taken, __ATOMIC_RELEASE); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

CommunicatorState* find(Table& table, Handle handle) {
  for (CommunicatorState* each = table.at(handle); each; each = each->next)
    if (each->handle == handle) return each;
  return nullptr;
}

void remove(Table& table, Handle handle) {
  const Lock lock;
  for (CommunicatorState** each = &table.at(handle); *each; each = &(*each)->next)
    if ((*each)->handle == handle) {
      CommunicatorState* const removed = *each;
      *each = removed->next;
      if (!removed->window && removed->record) {
        removed->next = freed;
        freed = removed;
      }
      break;
    }
  __atomic_add_fetch(&communicator_epoch, 1, __ATOMIC_RELEASE);
}

CommunicatorState* new_state(Handle handle) {
  // Earlier ones stay where they are, as pending requests refer to them.
  if (used_states == states_at_once) {
    states = static_cast<CommunicatorState*>(private_memory(states_at_once * sizeof(CommunicatorState)));
    if (!states) return nullptr;
    used_states = 0;
  }
  CommunicatorState* const state = &states[used_states++];
  state->handle = handle;
  return state;
}

void insert(Table& table, CommunicatorState* state) {
  state->next = table.at(state->handle);
  table.at(state->handle) = state;
}

// Ranks in MPI_COMM_WORLD of a group's members, in memory that is kept; nullptr if they are equal.
const int* translated(Handle group, int size) {
  constexpr std::size_t at_once = 1 << 16;
  static char* room = nullptr;
  static std::size_t left = 0;
  const std::size_t bytes = sizeof(int) * static_cast<std::size_t>(size > 0 ? size : 1);
  auto* const own = static_cast<int*>(private_memory(2 * bytes));
  if (!own) return nullptr;
  int* const ranks = own + (size > 0 ? size : 1);
  for (int k = 0; k < size; ++k) own[k] = k;
  bool known = world.group && mpi.group_translate(group, size, own, world.group, ranks) == 0;
  bool equal = known || size == world.size;
  for (int k = 0; k < size; ++k) {
    if (!known || ranks[k] < 0) ranks[k] = -1;  // of another MPI_COMM_WORLD
    equal = equal && (!known || ranks[k] == k);
  }
  const int* result = nullptr;
  if (!equal) {
    const Lock lock;
    if (bytes > left) {
      const std::size_t more = bytes > at_once ? bytes : at_once;
      room = static_cast<char*>(private_memory(more));
      left = room ? more : 0;
    }
    if (room) {
      memcpy(room, ranks, bytes);
      result = reinterpret_cast<const int*>(room);
      room += bytes;
      left -= bytes;
    }
  }
  release_memory(own, 2 * bytes);
  return result;
}

// A number of how often this function was called with the same base before: equal on all members of
// communicators whose creation only they know of.
std::uint32_t times(std::uint64_t base) {
  constexpr std::uint32_t most = 8192;
  static struct {
    std::uint64_t base;
    std::uint32_t next;
  } counters[most];
  std::uint32_t k = static_cast<std::uint32_t>(base >> 20) % most;
  for (std::uint32_t tried = 0; tried < most; ++tried, k = (k + 1) % most)
    if (!counters[k].base || counters[k].base == base) {
      counters[k].base = base;
      return counters[k].next++;
    }
  return 0;
}

std::uint64_t hash_of(const int* ranks, int size) {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(size), 1);
  for (int k = 0; k < size; ++k) hash = mix(hash, static_cast<std::uint64_t>(ranks ? ranks[k] : k));
  return hash;
}

// Called without the lock, as it calls MPI.
CommunicatorState describe(Handle handle) {
  CommunicatorState state{};
  state.handle = handle;
  int is_inter = 0, local_size = 0;
  mpi.comm_rank(handle, &state.rank);
  mpi.comm_size(handle, &local_size);
  mpi.comm_test_inter(handle, &is_inter);
  state.inter = is_inter != 0;
  state.size = state.local_size = local_size;
  Handle group = 0;
  if (handle != mpi.world && mpi.comm_group(handle, &group) == 0) {
    if (!world.group && !state.inter && local_size == world.size && state.rank == world.rank) {
      world.group = group;  // of a session: as the launcher counts ranks
    } else {
      state.world = translated(group, local_size);
      mpi.group_free(&group);
    }
  }
  state.members = hash_of(state.world, state.size);
  if (!state.inter || !mpi.comm_remote_group || !mpi.comm_remote_size) return state;
  const int first = state.in_world(0);
  mpi.comm_remote_size(handle, &state.size);
  if (mpi.comm_remote_group(handle, &group) == 0) {
    state.world = translated(group, state.size);
    mpi.group_free(&group);
  }
  // Equal on both sides.
  const std::uint64_t remote = hash_of(state.world, state.size);
  const bool lower = static_cast<std::uint32_t>(first) < static_cast<std::uint32_t>(state.in_world(0));
  state.members = lower ? mix(state.members, remote) : mix(remote, state.members);
  return state;
}

CommunicatorState* add(ThreadState& thread, Handle handle, CommunicatorState* parent, std::uint16_t made_by,
                       std::uint32_t nth) {
  const CommunicatorState described = describe(handle);
  const Lock lock;
  if (CommunicatorState* const known = find(communicators, handle)) return known;
  CommunicatorState* const state = new_state(handle);
  if (!state) return nullptr;
  *state = described;
  state->made_by = made_by;
  // The two sides of an intercommunicator have different parents.
  const std::uint64_t of = state->inter ? 77 : parent ? parent->key : 1;
  std::uint64_t key = mix(state->members, of);
  if (handle == mpi.world)
    nth = 0;
  else if (state->inter || nth == of_some_members)
    key = mix(mix(key, 5), nth = times(key | 1));
  else
    key = mix(key, nth + 1);
  state->key = key;
  // A program that makes communicators again and again would fill the file with their records.
  for (CommunicatorState** each = &freed; last_id >= described_each && *each; each = &(*each)->next) {
    CommunicatorState* const earlier = *each;
    if (earlier->members != state->members || earlier->made_by != made_by ||
        earlier->record->parent != (parent ? parent->id : 0))
      continue;
    *each = earlier->next;
    state->id = earlier->id;
    state->record = earlier->record;
    state->world = earlier->world;
    insert(communicators, state);
    return state;
  }
  state->id = ++last_id;
  state->record = thread.communicator_pages.add(thread.id);
  if (state->record) {
    Communicator& record = *state->record;
    record.id = state->id;
    record.parent = parent ? parent->id : 0;
    record.made_by = made_by;
    record.inter = state->inter;
    record.rank = state->rank;
    record.size = state->local_size;
    if (state->inter) record.remote_size = state->size;
    record.nth = nth;
    record.key = state->key;
    for (int k = 0; k < 16; ++k) record.members[k] = state->in_world(k);
    thread.communicator_pages.finish();
  }
  insert(communicators, state);
  return state;
}

CommunicatorState* state_in(Table& table, Handle handle) {
  const Lock lock;
  return find(table, handle);
}

void add_object(Table& table, Handle handle, CommunicatorState* parent, std::uint64_t salt) {
  if (!parent) return;
  const Lock lock;
  if (find(table, handle)) return;
  CommunicatorState* const state = new_state(handle);
  if (!state) return;
  *state = *parent;
  state->handle = handle;
  state->key = mix(mix(parent->key, salt), ++parent->children);
  state->collectives = 0;
  state->doubts = state->last_doubt = nullptr;
  state->window = true;
  insert(table, state);
}

}  // namespace

Distance World::distance(int other) const {
  if (other < 0) return Distance::unknown;
  if (other == rank) return Distance::self;
  if (!places) return Distance::unknown;
  const Place &a = places[rank], &b = places[other];
  if (a.host != b.host) return Distance::network;
  if (a.core >= 0 && a.core == b.core) return Distance::core;
  if (a.package >= 0 && a.package == b.package) return Distance::package;
  return Distance::node;
}

CommunicatorState* known_communicator(ThreadState& thread, Handle handle) {
  CommunicatorState* const last = thread.last_communicator;
  if (last && last->handle == handle && thread.last_communicator_epoch == communicator_epoch) return last;
  const std::uint32_t epoch = communicator_epoch;
  CommunicatorState* const state = state_in(communicators, handle);
  if (!state) return nullptr;
  thread.last_communicator = state;
  thread.last_communicator_epoch = epoch;
  return state;
}

CommunicatorState* communicator_state(ThreadState& thread, Handle handle) {
  if (CommunicatorState* const known = known_communicator(thread, handle)) return known;
  return add(thread, handle, nullptr, 0xffff, of_some_members);
}

CommunicatorState* window_state(Handle handle) {
  return state_in(windows, handle);
}

CommunicatorState* file_state(Handle handle) {
  return state_in(files, handle);
}

[[gnu::cold, gnu::noinline]] void add_communicator(ThreadState& thread, Handle handle,
                                                   CommunicatorState* parent, std::uint16_t made_by,
                                                   std::uint32_t nth) {
  // A handle that is in use again belongs to another communicator than the one whose end was not seen.
  remove(communicators, handle);
  add(thread, handle, parent, made_by, nth);
}

void add_window(Handle handle, CommunicatorState* parent) {
  remove(windows, handle);
  add_object(windows, handle, parent, 11);
}

void add_file(Handle handle, CommunicatorState* parent) {
  remove(files, handle);
  add_object(files, handle, parent, 13);
}

void remove_communicator(Handle handle) {
  remove(communicators, handle);
}

void remove_window(Handle handle) {
  remove(windows, handle);
}

void remove_file(Handle handle) {
  remove(files, handle);
}

void name_communicator(CommunicatorState& state, const char* name, std::size_t length) {
  if (!state.record || !name) return;
  constexpr std::size_t most = sizeof state.record->name - 1;
  if (length > most) length = most;
  memset(state.record->name, 0, sizeof state.record->name);
  memcpy(state.record->name, name, length);
}

}  // namespace hockney::profile
