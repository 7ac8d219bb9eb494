// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

// The data that processes send each other. Each process has three streams of records for every other one;
// records are adjacent, and not aligned except those of messages. Addresses refer to the receiver's memory;
// registrations make them known to all processes.
namespace hockney::bsp::inline v1 {

enum Kind : int { puts, requests, messages, kinds };

// A flag in `bytes` of a put or a get: the data do not follow the record, but are sent as a separate MPI
// message. They go directly into the receiver's memory if no other operation of the superstep interferes with
// it (in_order), or always (unbuffered operations).
inline constexpr std::uint64_t separate = std::uint64_t{1} << 63;
inline constexpr std::uint64_t in_order = std::uint64_t{1} << 62;
inline constexpr std::uint64_t size_mask = in_order - 1;

// Followed by the data.
struct PutRecord {
  std::uint64_t to;
  std::uint64_t bytes;
};

// The data are returned in the order of the requests, without headers.
struct GetRecord {
  std::uint64_t from;
  std::uint64_t bytes;
};

// Tag and payload follow, each padded to a multiple of this size, so that both are aligned for any type.
struct alignas(16) MessageRecord {
  std::uint64_t payload_bytes;
  std::uint64_t tag_bytes;
};

inline constexpr std::size_t message_alignment = 16;
constexpr std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + message_alignment - 1) / message_alignment * message_alignment;
}

// memcpy, inlined for the sizes of single elements.
inline void copy_bytes(void* to, const void* from, std::size_t bytes) {
  if (bytes == 8)
    std::memcpy(to, from, 8);
  else if (bytes == 4)
    std::memcpy(to, from, 4);
  else
    std::memcpy(to, from, bytes);
}

template <class Record>
Record read(const std::byte* at) {
  Record record;
  std::memcpy(&record, at, sizeof record);
  return record;
}

// Values on which all processes must agree at the end of a superstep.
struct Agreement {
  std::uint64_t tag_bytes = 0;  // last tag size set
  std::uint32_t tag_calls = 0;
  std::uint32_t pushes = 0;
  std::uint32_t pops = 0;
  std::uint32_t ending = 0;  // in bsp_end
  friend bool operator==(const Agreement&, const Agreement&) = default;
};

}  // namespace hockney::bsp::inline v1
