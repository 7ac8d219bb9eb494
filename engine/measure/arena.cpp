// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/arena.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>
#include <string>

#include "base/invalid_case.hpp"
#include "base/memory.hpp"
#include "measure/buffer.hpp"

namespace hockney {
namespace {

#ifdef HOCKNEY_SMPI
// Simulated memory has no pages or cache lines, and thousands of ranks share the real memory.
constexpr std::size_t alignment = 64;
#else
// Page alignment: the same offset relative to pages and cache lines in every launch.
constexpr std::size_t alignment = 4096;
#endif
// Every host has at least this much memory, so smaller requests need no check.
constexpr std::size_t unchecked_bytes = std::size_t{64} << 20;

void release(std::byte* memory) {
  ::operator delete(memory, std::align_val_t{alignment});
}

}  // namespace

Arena::~Arena() {
  for (const Chunk& chunk : chunks_) release(chunk.memory);
}

std::byte* Arena::take(std::size_t bytes) {
  const std::size_t padded_bytes = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  Chunk* best = nullptr;
  for (Chunk& chunk : chunks_)
    if (!chunk.taken && chunk.bytes >= padded_bytes && (!best || chunk.bytes < best->bytes)) best = &chunk;
  if (best) {
    best->taken = true;
    return best->memory;
  }
  // Overcommitted memory kills a rank when it is touched, so check first. A tenth is left for other
  // processes.
  const auto ranks_on_host = static_cast<std::size_t>(ranks_on_host_);
  const auto fits = [&] { return padded_bytes <= available_memory() / ranks_on_host / 10 * 9; };
  if (padded_bytes > unchecked_bytes / ranks_on_host && !fits()) {
    release_idle();
    if (!fits())
      throw OutOfMemory("a buffer of " + readable_bytes(bytes) + " on each of " +
                        std::to_string(ranks_on_host_) + " ranks does not fit into this host's memory");
  }
  auto* const memory =
      static_cast<std::byte*>(::operator new(padded_bytes, std::align_val_t{alignment}, std::nothrow));
  if (!memory) throw OutOfMemory("a buffer of " + readable_bytes(bytes) + " cannot be allocated");
  std::memset(memory, 0x5A, padded_bytes);
  chunks_.push_back({memory, padded_bytes, true});
  return memory;
}

void Arena::give_back(std::byte* memory) {
  for (Chunk& chunk : chunks_)
    if (chunk.memory == memory) chunk.taken = false;
}

int Arena::max_runs() const {
  std::size_t max_runs = INT_MAX;
  for (const Buffer* buffer : buffers_) max_runs = std::min(max_runs, buffer->slots());
  return static_cast<int>(max_runs);
}

void Arena::renew(int runs) {
  for (Buffer* buffer : buffers_) buffer->renew(runs);
}

void Arena::release_idle() {
  for (const Chunk& chunk : chunks_)
    if (!chunk.taken) release(chunk.memory);
  std::erase_if(chunks_, [](const Chunk& chunk) { return !chunk.taken; });
}

}  // namespace hockney
