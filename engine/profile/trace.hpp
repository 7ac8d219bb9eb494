// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// The trace of a rank: every outermost call in its order, with what it sent, received, started and completed.
// hockney/profiles/trace.py reads the file and packs it.
//
// A page with the TraceHeader is followed by chunks, which are mapped into memory one after the other while
// they are written, so that what is traced survives a kill. A chunk has events, definitions of distinct
// calls, or counts. Numbers are little-endian. An event is one word, so that it is there as a whole or not at
// all; the word after the last one is 0. The n-th count is what the thread executed between the n-th event
// and the one before it, as a `coded` number of 32 bits; it is written before its event.
#pragma once

#include "profile/call.hpp"
#include "profile/counter.hpp"
#include "profile/requests.hpp"

namespace hockney::profile {

constexpr std::size_t trace_page = 4096, chunk_bytes = 256 * 1024;
constexpr std::uint32_t trace_version = 1;

struct TraceHeader {
  char magic[8];  // "HKTRACES"
  std::uint32_t version, chunk_bytes;
  std::uint32_t flags;      // TraceFlags: why it ends early; 0: it does not
  std::int32_t rank, size;  // in MPI_COMM_WORLD
  Counter counter;          // what the chunks of counts contain; none: there are no such chunks
  std::uint64_t begin;      // ticks of the rank's clock from which the first event's gap counts
  std::uint64_t bias;       // part of each count that is due to counting
};

enum TraceFlags : std::uint32_t {
  limit_reached = 1,    // of the file's size
  no_space = 2,         // on the disk, or the file is gone
  threads_called = 4,   // several threads call MPI: their order is not known
  calls_not_known = 8,  // there was no room for a call site or for a request
};

enum class ChunkKind : std::uint32_t { events = 1, definitions, counts };

struct ChunkHeader {
  ChunkKind kind;
  std::uint32_t number;  // among the chunks of its kind, from 0
};

// An event has the slot of its call in the upper 16 bits, which is never 0, then the ticks since the event
// before it, and those that it took, both as `coded` numbers of 24 bits. The errors of gaps do not add up:
// each is counted from the end of the event before it as it is written.
//
// Floating-point numbers: those below 2^20 are exact, larger ones are cut to 20 significant bits.
constexpr std::uint64_t coded(std::uint64_t ticks) {
  if (ticks < 1 << 20) return ticks;
  const int shift = 44 - __builtin_clzll(ticks);
  return shift > 30 ? 0xffffff : (static_cast<std::uint64_t>(shift) << 19) + (ticks >> shift);
}
constexpr std::uint64_t decoded(std::uint64_t code) {
  if (code < 1 << 20) return code;
  const int shift = static_cast<int>(code >> 19) - 1;
  return (code - (static_cast<std::uint64_t>(shift) << 19)) << shift;
}

enum class What : std::uint8_t {
  none,
  send,
  receive,  // blocking, the whole message
  start_send,
  start_receive,
  end,  // completes the request that was started `age` starts ago; 1: the newest
  collective,
  start_collective,
  put,
  get,
  synchronize,  // windows
  probe,
};

enum PartFlags : std::uint8_t {
  any_source_or_tag = 1,
  cancelled_message = 16,
  starts_request = 128,  // put and get: counts as a start
};

// The part of a call that concerns one message or operation.
struct TracePart {
  What what;
  std::uint8_t flags;
  std::uint16_t by;            // the function that made the message, as of a persistent request
  std::uint32_t communicator;  // in the rank's file
  std::int32_t peer;           // in MPI_COMM_WORLD; -1: any, or unknown; -2: MPI_PROC_NULL
  std::int32_t tag;   // -1: any, or none; of a persistent collective its number on the communicator, from 1
  std::int32_t root;  // in MPI_COMM_WORLD, or -1
  std::uint32_t age;
  std::uint64_t bytes;
};
static_assert(sizeof(TracePart) == 32);

// One part of a distinct call. From the event `event - 1` on, the slot means this call. Slots are used again.
struct Definition {
  std::uint64_t event;  // 0: not complete
  std::uint32_t site;
  std::uint16_t slot, function;
  std::uint32_t place,
      parts;             // the part's place among the call's; a call without parts has one of What::none
  std::uint32_t misses;  // 1: one or several tests or probes that found nothing
  std::uint32_t reserved;
  TracePart part;
};
static_assert(sizeof(Definition) == 64);

// Whether calls are traced. Only then are parts collected.
extern bool tracing;

// Whether work between calls is counted.
extern bool counting;

// Creates the rank's trace if HOCKNEY_PROFILE_TRACE is set. Its first event begins at `begin`.
// `shares_cores`: there are more ranks than cores here.
void open_trace(const char* folder, std::uint64_t begin, bool shares_cores);

// Stops tracing.
void end_trace(std::uint32_t why = 0);

// Calls in between are written to memory that is discarded afterwards.
void set_trace_aside(bool aside);

namespace trace {

// Parts of the current call.
void add(const TracePart& part);
std::uint32_t start(TracePart part);  // the number of a request that starts; 0: it is not traced

TracePart part_of(const Part& message, What what);

// By the request's role.
std::uint32_t start(const Part& request);
void end(const PendingRequest& request);

// A call begins, or has ended and was traced. Only if work is counted.
void count_enter();
void count_leave();

// The current call has ended; `site` is 0 if there was no room for it.
void call(const Call& call, std::uint32_t site, bool miss, std::uint64_t enter, std::uint64_t leave);

}  // namespace trace
}  // namespace hockney::profile
