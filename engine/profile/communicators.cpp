// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "communicators.hpp"

#include <string.h>

#include "threads.hpp"

namespace hockney::profile {

World world;
std::uint32_t communicator_epoch = 1;

namespace {

constexpr std::uint32_t buckets = 256;
constexpr std::uint32_t most_communicators = 8192;

struct Table {
  CommunicatorState* bucket[buckets];
  CommunicatorState*& at(Handle handle) { return bucket[mix(handle, 7) % buckets]; }
};
Table communicators, windows, files;
CommunicatorState* states;
std::uint32_t used_states;

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
      *each = (*each)->next;
      break;
    }
  __atomic_add_fetch(&communicator_epoch, 1, __ATOMIC_RELEASE);
}

CommunicatorState* new_state(Handle handle) {
  if (!states)
    states = static_cast<CommunicatorState*>(private_memory(most_communicators * sizeof(CommunicatorState)));
  if (!states || used_states == most_communicators) return nullptr;
  CommunicatorState* const state = &states[used_states++];
  state->handle = handle;
  return state;
}

void insert(Table& table, CommunicatorState* state) {
  state->next = table.at(state->handle);
  table.at(state->handle) = state;
}

// Ranks in MPI_COMM_WORLD of a group that is then freed, or nullptr.
int* translated(Handle group, int size) {
  auto* const ranks =
      static_cast<int*>(private_memory(2 * sizeof(int) * static_cast<std::size_t>(size > 0 ? size : 1)));
  if (!ranks || !world.group) return nullptr;
  int* const own = ranks + size;
  for (int k = 0; k < size; ++k) own[k] = k;
  if (mpi.group_translate(group, size, own, world.group, ranks) != 0) return nullptr;
  for (int k = 0; k < size; ++k)
    if (ranks[k] < 0) ranks[k] = -1;  // of another MPI_COMM_WORLD
  return ranks;
}

// Called without the lock, as it calls MPI.
CommunicatorState describe(Handle handle, bool* inter) {
  CommunicatorState state{};
  state.handle = handle;
  int is_inter = 0, local_size = 0;
  mpi.comm_rank(handle, &state.rank);
  mpi.comm_size(handle, &local_size);
  mpi.comm_test_inter(handle, &is_inter);
  *inter = is_inter != 0;
  state.size = state.local_size = local_size;
  if (handle == mpi.world) return state;
  Handle group = 0;
  if (is_inter && mpi.comm_remote_group && mpi.comm_remote_size) {
    mpi.comm_remote_size(handle, &state.size);
    if (mpi.comm_remote_group(handle, &group) != 0) return state;
  } else if (mpi.comm_group(handle, &group) != 0) {
    return state;
  }
  state.world = translated(group, state.size);
  mpi.group_free(&group);
  return state;
}

CommunicatorState* add(ThreadState& thread, Handle handle, CommunicatorState* parent, std::uint16_t made_by,
                       bool together) {
  bool inter = false;
  const CommunicatorState described = describe(handle, &inter);
  const Lock lock;
  if (CommunicatorState* const known = find(communicators, handle)) return known;
  CommunicatorState* const state = new_state(handle);
  if (!state) return nullptr;
  *state = described;
  state->id = used_states;
  std::uint64_t members = mix(static_cast<std::uint64_t>(state->size), 1);
  if (!inter)
    for (int k = 0; k < state->size; ++k)
      members = mix(members, static_cast<std::uint64_t>(state->in_world(k)));
  const std::uint32_t nth = parent && together ? parent->children++ : 0;
  state->inter = inter;
  // The two sides of an intercommunicator have different parents.
  state->key = inter ? 77 : mix(mix(members, parent ? parent->key : 1), nth + (handle == mpi.world ? 0 : 1));
  state->record = thread.communicator_pages.add(thread.id);
  if (state->record) {
    Communicator& record = *state->record;
    record.id = state->id;
    record.parent = parent ? parent->id : 0;
    record.made_by = made_by;
    record.inter = inter;
    record.rank = state->rank;
    record.size = state->size;
    if (inter) {
      record.remote_size = state->size;
      mpi.comm_size(handle, &record.size);
    }
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
  return add(thread, handle, nullptr, 0xffff, true);
}

CommunicatorState* window_state(Handle handle) {
  return state_in(windows, handle);
}

CommunicatorState* file_state(Handle handle) {
  return state_in(files, handle);
}

void add_communicator(ThreadState& thread, Handle handle, CommunicatorState* parent, std::uint16_t made_by,
                      bool together) {
  // A handle that is in use again belongs to another communicator than the one whose end was not seen.
  remove(communicators, handle);
  add(thread, handle, parent, made_by, together);
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
