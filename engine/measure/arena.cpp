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
// Every host has this much, so there is no need to check that all ranks together have it.
constexpr std::size_t surely_there = std::size_t{64} << 20;

void release(std::byte* memory) {
  ::operator delete(memory, std::align_val_t{alignment});
}

}  // namespace

Arena::~Arena() {
  for (const Chunk& chunk : chunks_) release(chunk.memory);
}

std::byte* Arena::take(std::size_t bytes) {
  const std::size_t wanted = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  Chunk* best = nullptr;
  for (Chunk& chunk : chunks_)
    if (!chunk.taken && chunk.bytes >= wanted && (!best || chunk.bytes < best->bytes)) best = &chunk;
  if (best) {
    best->taken = true;
    return best->memory;
  }
  // Overcommitted memory kills a rank when it is touched, so check first. A tenth is left for other
  // processes.
  const auto sharing = static_cast<std::size_t>(sharing_);
  const auto fits = [&] { return wanted <= available_memory() / sharing / 10 * 9; };
  if (wanted > surely_there / sharing && !fits()) {
    release_idle();
    if (!fits())
      throw OutOfMemory("a buffer of " + readable_bytes(bytes) + " on each of " + std::to_string(sharing_) +
                        " ranks does not fit into this host's memory");
  }
  auto* const memory =
      static_cast<std::byte*>(::operator new(wanted, std::align_val_t{alignment}, std::nothrow));
  if (!memory) throw OutOfMemory("a buffer of " + readable_bytes(bytes) + " cannot be allocated");
  std::memset(memory, 0x5A, wanted);
  chunks_.push_back({memory, wanted, true});
  return memory;
}

void Arena::give_back(std::byte* memory) {
  for (Chunk& chunk : chunks_)
    if (chunk.memory == memory) chunk.taken = false;
}

int Arena::most_runs() const {
  std::size_t most = INT_MAX;
  for (const Buffer* buffer : buffers_) most = std::min(most, buffer->places());
  return static_cast<int>(most);
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
