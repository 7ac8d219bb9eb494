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
  // `ranks_on_host`: the number of ranks, including this one, that share this host's memory; each has its own
  // arena.
  explicit Arena(int ranks_on_host) : ranks_on_host_(ranks_on_host) { HOCKNEY_EXPECT(ranks_on_host >= 1); }
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // At least `bytes` bytes, aligned, with every page touched. Throws OutOfMemory.
  std::byte* take(std::size_t bytes);
  void give_back(std::byte* memory);

  // Maximum number of runs between two calls of renew() with the registered written buffers; INT_MAX without
  // any.
  int max_runs() const;
  // Prepares the next `runs` runs, outside the timed region: each rank reads what it has received into
  // written buffers, and writes what it will send from them.
  void renew(int runs);

  int ranks_on_host() const { return ranks_on_host_; }
  // Sets the number of ranks on this host for the next case, which a different set of ranks may measure.
  void share(int ranks) { ranks_on_host_ = ranks; }

 private:
  friend class Buffer;

  struct Chunk {
    std::byte* memory;
    std::size_t bytes;
    bool taken;
  };
  void release_idle();

  int ranks_on_host_;
  std::vector<Chunk> chunks_;
  std::vector<Buffer*> buffers_;  // written buffers only
};

}  // namespace hockney
