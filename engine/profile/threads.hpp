// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// What each thread records by itself, so that calls of several threads need no lock.
#pragma once

#include <cstdint>

#include "profile/call_sites.hpp"
#include "profile/rank_file.hpp"

namespace hockney::profile {

struct PendingRequest;
struct CommunicatorState;

struct ThreadState {
  static constexpr std::uint32_t recent = 128, most_entries = 16384, most_modules = 64, recent_types = 64;

  std::uint32_t id;
  ThreadState* next_left;   // of a thread that has ended
  void* memos;              // see messages.cpp
  std::uint32_t depth;      // 1: inside of an outermost call
  std::uint64_t outermost;  // its caller's stack pointer
  // Where the stack has its return address, unless the call was left by a jump and something else is there
  // now.
  const std::uint64_t* return_slot;
  std::uint64_t return_address;
  Thread* live;
  int* error_number;  // errno, which the program must not see changed
  std::uint64_t in_mpi;
  std::uint64_t saved;  // a handle that the current call changes
  std::uint64_t region_since, region_in_mpi;

  SiteState* recent_sites[recent];
  SiteState sites[most_sites];
  SiteState lost_site;
  std::uint32_t used_sites;

  struct {
    std::uint64_t key;
    Entry* entry;
  } entries[most_entries];
  std::uint32_t used_entries;

  struct {
    std::uint64_t type, bytes;
    std::uint32_t epoch;  // of the cache; 0: empty
  } types[recent_types];
  CommunicatorState* last_communicator;
  std::uint32_t last_communicator_epoch;

  Peer** peers;  // by rank in MPI_COMM_WORLD

  // Requests that the current call waits for, in the order of its arguments; nullptr where none is known.
  PendingRequest** waits;
  std::uint32_t most_waits;

  std::uint64_t module_begin[most_modules], module_end[most_modules];
  std::uint32_t modules;

  Pages<Entry> entry_pages{Kind::entries};
  Pages<Site> site_pages{Kind::sites};
  Pages<Module> module_pages{Kind::modules};
  Pages<Communicator> communicator_pages{Kind::communicators};
  Pages<Peer> peer_pages{Kind::peers};
  Pages<Sample> sample_pages{Kind::samples};
  Pages<Thread> live_pages{Kind::threads};
  Pages<Region> region_pages{Kind::regions};
};

extern std::uint32_t last_site;

}  // namespace hockney::profile
