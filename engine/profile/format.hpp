// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// The file with the profile of one rank. It is mapped into memory while the program runs, so that the records
// survive a kill, an abort and a hang. hockney/profiles/rank_file.py reads it.
//
// A page of 4096 bytes with the Header is followed by pages of records of one type, in the order in which
// they were needed. Numbers are little-endian. Times are ticks of the rank's clock; Header::clock converts
// them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hockney::profile {

constexpr std::size_t page_bytes = 4096;
constexpr std::uint32_t version = 1;

// A point of the rank's clock and of CLOCK_MONOTONIC, which all ranks on a host share.
struct ClockPoint {
  std::uint64_t ticks, monotonic_ns;
};

enum class State : std::uint32_t { running = 1, finalized = 2 };

struct Header {
  char magic[8];  // "HKPROFIL"
  std::uint32_t version, page_bytes;
  State state;
  std::uint32_t pages;  // used pages, this one included
  std::int32_t rank,
      size;  // in MPI_COMM_WORLD; of a program with sessions only, as the launcher numbers them
  std::uint32_t pid;
  std::uint32_t mpi;           // Abi: 1 Open MPI, 2 MPICH, 3 the ABI of MPI 5
  std::uint32_t thread_level;  // as MPI_Query_thread returns it, 0 (single) to 3 (multiple); see Abi
  std::uint32_t threads;       // that called MPI
  std::uint64_t job;           // equal on all ranks with the same MPI_COMM_WORLD, different for spawned ones
  std::uint64_t host;          // equal on ranks of the same host
  std::int32_t core, package;  // of the processor to which the rank is bound; -1: of several
  ClockPoint first, last;      // between them the clock is linear; `last` is set at times, and by finalize
  std::uint64_t init_enter, init_exit, finalize_enter;  // 0: not yet
  std::uint64_t in_mpi;  // ticks in outermost MPI calls between init_exit and finalize_enter, of all threads
  std::uint64_t calls;   // outermost calls, of all threads
  std::uint64_t lost;    // calls that are counted, but not recorded, as the file is full
  std::uint64_t failed;  // calls that returned an error
  std::uint64_t
      unmatched;  // receives whose sender is unknown, so that messages on their communicator have no samples
  std::uint64_t unknown_requests;  // completed requests that no recorded call has started
  std::uint32_t flags;             // Flags
  std::uint32_t overheads;         // used elements of `overhead`
  struct {
    char kind[16];            // "local", "send", "nonblocking", ...
    float bare_ns, added_ns;  // of one call without and with recording
  } overhead[8];
  char hostname[64];
  char program[256];
  std::uint64_t
      paused;  // ticks between MPI_Pcontrol(0) and MPI_Pcontrol(1), which are not part of the profile
  std::uint64_t kernel;  // equal on ranks that share CLOCK_MONOTONIC
  // At `at_ns` of this rank's CLOCK_MONOTONIC, that of rank 0 showed `ahead_ns` more, give or take
  // `within_ns`: after MPI_Init and before MPI_Finalize. All are 0 if this was not measured.
  struct {
    std::uint64_t at_ns;
    std::int64_t ahead_ns, within_ns;
  } remote[2];
};
static_assert(sizeof(Header) <= page_bytes);

enum Flags : std::uint32_t {
  file_full = 1,      // the largest size is reached
  disk_full = 2,      // later pages could not be written
  forked = 4,         // the program called fork; the child records nothing
  two_libraries = 8,  // calls reached more than one MPI library; only those of the first are recorded
  ticks_of_kernel =
      16,         // ticks are nanoseconds of CLOCK_MONOTONIC, as the processor's counter is not invariant
  spawned = 32,   // the ranks were started by MPI_Comm_spawn
  sessions = 64,  // the program uses sessions without MPI_Init
  covered = 128,  // functions of MPI of the program, or of a library loaded earlier, are called instead
};

enum class Kind : std::uint16_t {
  entries = 1,
  sites,
  modules,
  communicators,
  peers,
  samples,
  threads,
  regions
};

struct PageHeader {
  Kind kind;
  std::uint16_t record_bytes;
  std::uint32_t records;  // complete ones
  std::uint32_t thread;   // that writes them, from 0
  std::uint32_t reserved;
};

// The distance of the other rank. Collective and local calls have `none`.
enum class Distance : std::uint8_t { none, self, core, package, node, network, unknown };

constexpr int time_bins = 32;
constexpr int first_time_bin =
    4;  // bin k counts calls of [2^(k+4), 2^(k+5)) ticks; the first and last also what is beyond

// All calls of one function from one call site with equal communicator, size class, distance and region.
// Calls of MPI_Wtime and MPI_Wtick are counted without times.
struct Entry {
  std::uint32_t site;
  std::uint16_t function;   // place in the table that Header's library was generated with
  std::uint8_t size_class;  // 0: no size is known; 1: 0 bytes; k: [2^(k-2), 2^(k-1)) bytes
  Distance distance;
  std::uint32_t communicator;
  std::uint16_t region;    // 0: outside of regions
  std::uint16_t language;  // 0: C, 1: Fortran, 2: Fortran 2008
  std::uint64_t calls, bytes, ticks, least, most;
  std::uint64_t misses;  // of tests and probes: calls that found nothing completed
  std::uint64_t waited;  // of calls that complete requests: the number of these
  std::uint32_t bins[time_bins];
};
static_assert(sizeof(Entry) == 200);

// A call site.
struct Site {
  std::uint32_t id;
  std::uint16_t frames;
  std::uint16_t ambiguous;  // calls of other stacks were also counted here
  std::uint64_t frame[12];  // return addresses, the innermost first, without hockney's
  char python[148];         // "FILE:LINE FUNCTION" of the innermost Python frame, or ""
  std::uint32_t reserved;
};
static_assert(sizeof(Site) == 256);

// A mapped segment of a program or library.
struct Module {
  std::uint64_t begin, end;  // addresses
  std::uint64_t bias;        // address - bias is an address of the file
  char path[232];
};
static_assert(sizeof(Module) == 256);

struct Communicator {
  std::uint32_t id;       // in this file, from 1; 1: MPI_COMM_WORLD
  std::uint32_t parent;   // 0: unknown
  std::uint16_t made_by;  // function; 0xffff: unknown
  std::uint16_t inter;    // 1: an intercommunicator
  std::int32_t rank, size, remote_size;
  std::uint32_t nth;  // child of its parent, from 0
  std::uint32_t reserved;
  std::uint64_t key;         // equal on all members; of parent, number and members
  char name[48];             // MPI_Comm_set_name, or ""
  std::int32_t members[16];  // the first ones' ranks in MPI_COMM_WORLD
};
static_assert(sizeof(Communicator) == 152);

// The data exchanged with another rank of MPI_COMM_WORLD.
struct Peer {
  std::int32_t rank;
  Distance distance;
  std::uint8_t reserved[3];
  std::uint64_t sent, sent_bytes, received,
      received_bytes;                  // received: completed receives whose sender is known
  std::uint64_t put_bytes, got_bytes;  // one-sided
  std::uint64_t wait_ticks;            // in receives and waits for this rank alone
};
static_assert(sizeof(Peer) == 64);

// One of the messages and collective calls that are timed individually. The choice depends on their number
// in a channel alone (see sampled()), so that both sides, or all ranks, choose the same ones.
struct Sample {
  std::uint64_t channel;  // communicator's key, sender, receiver and tag; of a collective: communicator's key
  std::uint32_t number;   // in the channel, from 0
  std::uint8_t role;      // Role
  std::uint8_t distance;
  std::uint16_t function;
  std::uint32_t site;       // of the send, receive or collective
  std::uint32_t wait_site;  // of the call that completed it; equals site if that is the same call
  std::uint64_t bytes;
  std::uint64_t posted;        // the call that starts it was entered
  std::uint64_t enter, leave;  // the call that completes it
  std::int32_t peer;           // rank in MPI_COMM_WORLD, or -1
  std::uint32_t communicator;
};
static_assert(sizeof(Sample) == 64);

enum class Role : std::uint8_t { send, receive, collective };

// The current activity of a thread.
struct Thread {
  std::uint32_t id;
  std::uint32_t depth;  // 1: in an MPI call; 0: outside
  std::uint32_t site;
  std::uint16_t function;
  std::uint16_t wildcard;  // 1: waits for any rank
  std::int32_t peer;       // rank in MPI_COMM_WORLD that the call waits for, or -1
  std::uint32_t communicator;
  std::uint64_t since;  // ticks
  std::uint64_t calls;  // outermost
  std::uint64_t bytes;
  std::uint32_t started_at;  // the site whose request the call waits for, or 0
  std::uint32_t pending;     // requests that the call waits for
};
static_assert(sizeof(Thread) == 56);

struct Region {
  std::uint16_t id;  // from 1
  std::uint16_t reserved[3];
  std::uint64_t entered, ticks, in_mpi;
  char name[96];
};
static_assert(sizeof(Region) == 128);

// Whether number `n` of a channel is timed: all of the first 32, then about 32 of each doubling.
constexpr bool sampled(std::uint64_t n, std::uint64_t* weight) {
  const std::uint64_t every = n < 64 ? 1 : std::uint64_t{1} << (58 - __builtin_clzll(n));
  *weight = every;
  std::uint64_t mixed = n * 0x9e3779b97f4a7c15ULL;
  mixed ^= mixed >> 29;
  mixed *= 0xbf58476d1ce4e5b9ULL;
  mixed ^= mixed >> 32;
  return (mixed & (every - 1)) == 0;
}

}  // namespace hockney::profile
