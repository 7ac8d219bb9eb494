// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Communicators and windows: their members, and a key that is equal on all of them.
#pragma once

#include <cstdint>

#include "profile/format.hpp"
#include "profile/mpi_library.hpp"

namespace hockney::profile {

struct ThreadState;
struct Doubt;

struct CommunicatorState {
  Handle handle;
  CommunicatorState* next;
  Communicator* record;  // nullptr if the file is full
  std::uint32_t id;
  std::int32_t size;  // of the ranks that messages go to: the remote group's of an intercommunicator
  std::int32_t rank, local_size;
  const int* world;  // their ranks in MPI_COMM_WORLD; nullptr: equal
  std::uint64_t key;
  std::uint32_t children;
  std::uint32_t collectives;  // calls so far
  std::uint32_t prepared;     // persistent collective operations
  std::uint64_t members;      // hash of their ranks in MPI_COMM_WORLD
  std::uint16_t made_by;
  bool receives_lost;  // the sender of a message is not known, so that those after it have no number
  bool inter, window;
  Doubt *doubts, *last_doubt;  // receives whose numbers are not known yet, in the order of their posts

  int in_world(int member) const {
    if (member < 0 || member >= size) return -1;
    return world ? world[member] : member;
  }
};

// The members of one MPI_COMM_WORLD.
struct World {
  int rank = -1, size = 0;
  Handle group = 0;
  struct Place {
    std::uint64_t host;
    std::int32_t package, core;  // -1: of several
  };
  Place* places = nullptr;  // of all ranks; nullptr if they are too many
  Distance distance(int other) const;
};
extern World world;

// The state of a communicator. If it is new, its members are determined now.
CommunicatorState* communicator_state(ThreadState& thread, Handle handle);
CommunicatorState* known_communicator(ThreadState& thread,
                                      Handle handle);  // nullptr if it was not seen before
CommunicatorState* window_state(Handle handle);
CommunicatorState* file_state(Handle handle);

// `nth` counts the children of the parent, if all of its members took part, and is of_some_members otherwise.
constexpr std::uint32_t of_some_members = ~std::uint32_t{0};
void add_communicator(ThreadState& thread, Handle handle, CommunicatorState* parent, std::uint16_t made_by,
                      std::uint32_t nth);
void add_window(Handle handle, CommunicatorState* parent);
void add_file(Handle handle, CommunicatorState* parent);
void remove_communicator(Handle handle);
void remove_window(Handle handle);
void remove_file(Handle handle);
void name_communicator(CommunicatorState& state, const char* name, std::size_t length);

// Changes when a handle may have a new meaning.
extern std::uint32_t communicator_epoch;

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  // Small numbers in both must not meet.
  std::uint64_t x = a * 0xff51afd7ed558ccdULL ^ (b + 0x9e3779b97f4a7c15ULL) * 0xc4ceb9fe1a85ec53ULL;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  return x ^ x >> 32;
}

}  // namespace hockney::profile
