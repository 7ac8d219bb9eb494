// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "bsp/watch.hpp"

#include <algorithm>

namespace hockney::bsp::inline v1 {
namespace {

// FNV-1a.
std::uint64_t checksum(const void* memory, std::size_t bytes) {
  std::uint64_t sum = 0xcbf29ce484222325ULL;
  for (std::size_t k = 0; k < bytes; ++k)
    sum = (sum ^ static_cast<const unsigned char*>(memory)[k]) * 0x100000001b3ULL;
  return sum;
}

struct Write {
  std::uint64_t to, end;
  int pid;
};

}  // namespace

void Watch::add(Call call, const void* memory, std::size_t bytes) {
  unbuffered_.push_back({call, memory, bytes, checksum(memory, bytes)});
}

void Watch::check_unchanged(const Place& place) {
  for (const Unbuffered& each : unbuffered_)
    if (checksum(each.memory, each.bytes) != each.sum)
      fail(place, each.call,
           "the program has changed %zu bytes at %p between the call and bsp_sync (expected: the %s of an "
           "unbuffered operation is left alone)",
           each.bytes, each.memory, each.call == Call::hpget ? "destination" : "source");
  unbuffered_.clear();
}

void Watch::check_overlaps(const Place& place, const Incoming& incoming) {
  if (warned_) return;
  std::vector<Write> writes;
  for (const Block& block : incoming.blocks[puts])
    for (const std::byte *at = block.data, *const end = at + block.bytes; at < end;) {
      const auto put = read<PutRecord>(at);
      const std::uint64_t bytes = put.bytes & size_mask;
      writes.push_back({put.to, put.to + bytes, block.pid});
      at += sizeof put + (put.bytes & separate ? 0 : bytes);
    }
  std::sort(writes.begin(), writes.end(), [](const Write& a, const Write& b) { return a.to < b.to; });
  const Write* last = nullptr;
  for (const Write& each : writes) {
    if (last && each.to < last->end) {
      warn(place, Call::sync,
           "puts of processes %d and %d write the same memory of this process, %llu bytes at %p; BSPlib does "
           "not "
           "define which one remains",
           last->pid, each.pid, static_cast<unsigned long long>(std::min(last->end, each.end) - each.to),
           reinterpret_cast<void*>(static_cast<std::uintptr_t>(each.to)));
      warned_ = true;
      return;
    }
    if (!last || each.end > last->end) last = &each;
  }
}

}  // namespace hockney::bsp::inline v1
