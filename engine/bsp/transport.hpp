// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bsp/outbox.hpp"
#include "bsp/records.hpp"

namespace hockney::bsp::inline v1 {

// A piece of a stream that has arrived from a process.
struct Block {
  int pid;
  const std::byte* data;
  std::size_t bytes;
};

// What has arrived at the end of a superstep, by kind, in ascending order of the senders, including this
// process, and for each sender in the order of its calls. Valid until the next exchange.
struct Incoming {
  std::vector<Block> blocks[kinds];
  // Senders, in ascending order, with puts whose data travel apart.
  std::vector<int> apart;
  std::uint64_t packets = 0;

  void add(Kind kind, int pid, const std::byte* data, std::size_t bytes) {
    if (bytes > 0) blocks[kind].push_back({pid, data, bytes});
  }
  // A packet, in which the streams follow one another as messages, requests, puts.
  void add(int pid, const std::byte* data, const std::uint64_t (&bytes)[kinds]) {
    for (const Kind kind : {messages, requests, puts}) {
      add(kind, pid, data, bytes[kind]);
      data += bytes[kind];
    }
  }
  // What a process has sent itself.
  void add_own(int pid, const Outbox& outbox) {
    for (const Kind kind : {messages, requests, puts})
      add(kind, pid, outbox.streams[kind].begin, outbox.streams[kind].heap_bytes());
  }
  void clear() {
    for (std::vector<Block>& each : blocks) each.clear();
    apart.clear();
    packets = 0;
  }
};

// Two processes that differ in what all have to agree on.
struct Disagreement {
  int pid = -1, other = -1;
  Agreement one = {}, another = {};
  explicit operator bool() const { return pid >= 0; }
};

// How records reach other processes. Outboxes are indexed by process; that of this process itself is in heap
// memory and not a transport's concern. All functions except grow() are called in bsp_sync.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  virtual const char* name() const = 0;

  // More room in a stream: `bytes` at least, in one piece.
  virtual void grow(int pid, Kind kind, Stream& stream, std::size_t bytes) = 0;

  // Whether a put of this size, which is large, is to be appended to its stream like others. Otherwise it
  // travels apart.
  virtual bool appends(std::size_t bytes) const = 0;

  // Delivers the outboxes of all processes to one another; collective. `active` names the outboxes with
  // records. A process that has returned was reached by all others.
  virtual Disagreement exchange(const Agreement& agreement, std::vector<Outbox>& outboxes,
                                std::span<const int> active, Incoming& incoming) = 0;

  // After the exchange: room for data that `pid` has asked for, their dispatch, and the data that this
  // process has asked of `pid`, in the order of the requests. A pair of processes uses them at most once in a
  // superstep, with the same size.
  virtual std::byte* reply_room(int pid, std::size_t bytes) = 0;
  virtual void send_reply(int pid) = 0;
  virtual void expect_reply(int pid, std::size_t bytes) = 0;
  virtual const std::byte* reply(int pid) = 0;

  // When everything has been delivered: outboxes may be cleared, and written again.
  virtual void finish() = 0;
};

}  // namespace hockney::bsp::inline v1
