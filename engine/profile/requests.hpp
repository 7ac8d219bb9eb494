// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Requests that are not complete. MPI may give several pending requests the same handle, so that they form a
// multiset: those of one handle are taken in the order in which they were started.
#pragma once

#include <cstdint>

#include "profile/format.hpp"
#include "profile/mpi_library.hpp"

namespace hockney::profile {

struct CommunicatorState;
struct Doubt;

// What is equal for all messages, or other parts of calls, from one call site with the same arguments.
struct Part {
  std::uint64_t bytes;
  std::uint64_t channel;  // of its sample; 0: none
  CommunicatorState* of;  // of a receive from any source, to name its sender afterwards
  std::uint32_t site;
  std::uint32_t communicator;
  std::int32_t peer;  // in MPI_COMM_WORLD; -1: unknown, or none
  std::int32_t tag;
  std::uint16_t function;
  Role role;
  Distance distance;
  bool wildcard;
};

struct PendingRequest : Part {
  Handle handle;
  PendingRequest* next;
  std::uint64_t posted;  // ticks at which the call that started it was entered
  Doubt* doubt;          // of a receive whose number is not known yet
  const void* made;      // where the handle of a new communicator will be
  std::uint32_t number;
  bool persistent, active, claimed;
  bool cancels;      // MPI_Cancel was called
  bool partitioned;  // matches others of its kind only, in the order in which they were made
  bool made_in_fortran;
  bool cancelled;                      // it got no message
  bool sends_too;                      // of MPI_Isendrecv: the send was started just before
  std::int32_t given_peer, given_tag;  // of a persistent receive: as they were before a message was received
  std::uint64_t given_bytes;
  std::uint32_t nth;      // of a new communicator
  std::uint32_t started;  // its number in the trace; 0: it has none
};
static_assert(sizeof(PendingRequest) == 128);  // two cache lines

// One that is not pending yet. Only what makes it an active request of the simplest kind is set. nullptr if
// there is no room; the request is then unknown when it completes.
PendingRequest* new_request();
void add_request(PendingRequest* request, Handle handle);

// The oldest request of a handle that no other call waits for, which is then claimed; nullptr if none is
// known.
PendingRequest* claim_request(Handle handle);
void release_request(PendingRequest* request);             // it is not complete
void remove_request(PendingRequest* request);              // it is, or inactive again if it is persistent
bool forget_request(Handle handle, PendingRequest* copy);  // MPI_Request_free
void cancel_request(Handle handle);

// For persistent requests: the one with this handle, or nullptr.
PendingRequest* persistent_request(Handle handle);

// Only then requests are protected against calls of other threads.
extern bool several_threads;

}  // namespace hockney::profile
