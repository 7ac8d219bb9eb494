// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "base/expect.hpp"

namespace hockney {

class Buffer;

// The memory for one launch's buffers. Memory that one case returns is reused by the next, so that a case
// need not wait for the operating system to allocate (and clear) a cache's worth of pages again.
class Arena {
 public:
  // `sharing`: how many ranks, including this one, share this host's memory, each with its own arena.
  explicit Arena(int sharing) : sharing_(sharing) { HOCKNEY_EXPECT(sharing >= 1); }
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // At least `bytes` bytes, aligned, with every page touched. Throws OutOfMemory.
  std::byte* take(std::size_t bytes);
  void give_back(std::byte* memory);

  // The most runs between two calls of renew(), for the written buffers that there are; INT_MAX without.
  int most_runs() const;
  // Before the next `runs` runs, outside the timed part: each rank reads what it has received into written
  // buffers, and writes what it will send from them.
  void renew(int runs);

  int sharing() const { return sharing_; }
  // For the next case, which other ranks may measure.
  void share(int ranks) { sharing_ = ranks; }

 private:
  friend class Buffer;

  struct Chunk {
    std::byte* memory;
    std::size_t bytes;
    bool taken;
  };
  void release_idle();

  int sharing_;
  std::vector<Chunk> chunks_;
  std::vector<Buffer*> buffers_;  // the written ones
};

}  // namespace hockney
