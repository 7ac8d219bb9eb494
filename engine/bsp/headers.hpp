// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bsp/outbox.hpp"
#include "bsp/transport.hpp"
#include "comm/comm.hpp"
#include "comm/wait_policy.hpp"

namespace hockney::bsp::inline v1 {

// Packets of at most this size travel with their header, so that a superstep with little communication needs
// no other messages.
inline constexpr std::size_t inline_bytes = 64;

// Sizes of the data that a process sends to another one, by kind, and the data themselves if they are small:
// the streams in the order messages, requests, puts.
struct alignas(64) PairHeader {
  Agreement agreement;
  std::uint64_t bytes[kinds] = {};
  std::int32_t source = 0, dest = 0;
  std::uint32_t separate_puts = 0;
  std::uint32_t padding = 0;
  alignas(16) std::byte data[inline_bytes];

  std::uint64_t total() const { return bytes[puts] + bytes[requests] + bytes[messages]; }
  void empty() { bytes[puts] = bytes[requests] = bytes[messages] = separate_puts = 0; }
  bool complete() const { return total() <= inline_bytes; }
};
static_assert(offsetof(PairHeader, data) + inline_bytes == 128);

// Tells the processes what they will receive. Collective; no process returns before all have entered.
class HeaderExchange {
 public:
  HeaderExchange() = default;
  HeaderExchange(const HeaderExchange&) = delete;
  HeaderExchange& operator=(const HeaderExchange&) = delete;
  virtual ~HeaderExchange() = default;

  virtual const char* name() const = 0;
  // Returns the headers of all processes that have sent something to this one, in ascending order, excluding
  // itself. They are valid until the next call. `disagreement` is set if two processes differ.
  virtual std::span<const PairHeader* const> run(const Agreement& agreement, std::span<const int> active,
                                                 const std::vector<Outbox>& outboxes,
                                                 Disagreement& disagreement) = 0;
};

// Uses a single MPI_Alltoall.
std::unique_ptr<HeaderExchange> alltoall_headers(const Comm& comm, WaitPolicy wait_policy);
// Bruck's algorithm with non-empty headers only: step k sends the headers for processes whose distance has
// bit k set to the process 2^k above. Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8 (1997), section 3.
std::unique_ptr<HeaderExchange> log_headers(const Comm& comm, WaitPolicy wait_policy);

// Writes the header of `outbox`.
void describe(const Outbox& outbox, int source, int dest, PairHeader& header);
// Writes the streams of an outbox one after the other.
void pack(const Outbox& outbox, std::byte* into);

}  // namespace hockney::bsp::inline v1
