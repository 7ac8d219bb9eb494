// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

// The arrays of hockney/replay/graph.py, and declarations that the functions of this library share. Python
// calls them through hockney/replay/native.py, which repeats the structures.
namespace hockney::replay {

enum Kind : std::uint8_t { kCompute, kSend, kReceive, kReceived, kSent, kEnter, kLeave, kKinds };

enum Flag : std::uint8_t {
  kBlocking = 1,
  kTogether = 2,
  kBuffered = 4,
  kSynchronous = 8,
  kWildcard = 16,
  kRootedFrom = 32,
  kRootedTo = 64,
  kAtRoot = 128
};

struct Op {
  std::uint8_t kind, flags;
  std::uint16_t place;
  std::uint32_t cost, slot;
  float computed;
};
static_assert(sizeof(Op) == 16);

constexpr int kLevels = 5;

struct Cost {
  double overhead, latency, transfer, receive, gap, exchange;
  std::uint8_t eager, gap_holds, level, moving_receive, moving_gap, reserved[3];
};
static_assert(sizeof(Cost) == 56);

struct Message {
  std::uint32_t source, target;
  std::int32_t tag;
  std::uint32_t communicator;
  std::uint64_t size;
};
static_assert(sizeof(Message) == 24);

struct Graph {
  const Op* ops;
  const std::int64_t* first;  // of each rank, and the end of the last
  const Message* messages;
  const double* tail;
  std::int64_t ranks, messages_count, groups_count, places;
};

// Seconds of computation that replace or scale the graph's own; null: unchanged.
struct Computation {
  const float* seconds;  // of each operation
  const double* place_factor;
  const double* rank_factor;
};

inline bool is_end(const Op& op) {
  return op.kind == kReceived || op.kind == kSent;
}

// Whether the operation at `i` belongs to the same wait as the previous end. MPI_Waitall receives messages in
// the order of their arrival.
inline bool continues(const Op* ops, std::int64_t i, std::int64_t end) {
  return i < end && is_end(ops[i]) && (ops[i].flags & kTogether) != 0;
}

// MPI_Send and similar calls: if the message waits for its receive, the overhead is paid when both are ready.
inline bool sends_and_waits(const Op* ops, std::int64_t i, std::int64_t end) {
  return (ops[i].flags & kBlocking) != 0 && i + 1 < end && ops[i + 1].kind == kSent &&
         ops[i + 1].slot == ops[i].slot && (ops[i + 1].flags & kTogether) != 0;
}

// Whether a message leaves at once depends on its flags, or else on its cost.
inline bool leaves_at_once(bool eager, std::uint8_t flags_of_send) {
  if ((flags_of_send & kSynchronous) != 0) return false;
  return eager || (flags_of_send & kBuffered) != 0;
}

// Codes of problems that Python reports.
enum Problem : std::int32_t {
  kFine,
  kBadIndex,    // of a row, a message, a group, a place, or an unknown kind
  kBadMessage,  // an end without a start, or two of them, or of another rank
  kDeadlock,
  kTooLarge
};

struct Failure {
  std::int32_t problem;
  std::int64_t op;
};

// A part of a rank's operations that is processed without interruption.
struct Run {
  std::uint32_t rank, count;
};

// Flags in `where`, next to the number of the register: the message always waits for its receive, or never
// does; the overhead of the send is paid when both sides are ready; the operation is the first to enter its
// group.
constexpr std::uint32_t kWaits = 1u << 31, kLeaves = 1u << 30, kLate = 1u << 29, kFirst = 1u << 31;
constexpr std::uint32_t kRegister = kLate - 1;

// An order of all operations in which each comes after those that it depends on. Messages and groups in
// progress have registers, which are reused so that they stay in the cache.
struct Order {
  std::vector<Run> runs;
  std::vector<std::uint32_t> where;  // of each operation, in the graph's order
  std::uint32_t message_registers = 0, group_registers = 0;
  std::int64_t most_received = 0;  // the largest number of receives that one wait ends
};

}  // namespace hockney::replay
