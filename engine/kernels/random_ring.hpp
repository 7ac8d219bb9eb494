// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/comm.hpp"
#include "kernels/permutation.hpp"

namespace hockney::kernels {

// The ranks in a circle, in random order. If all ranks send over the same distance, the result is a
// permutation in which no rank sends to itself, unless there is only one.
class RandomRing {
 public:
  struct Partners {
    int to;
    int from;
  };

  RandomRing(const Comm& comm, std::uint64_t seed) {
    const auto ranks = static_cast<std::uint64_t>(comm.size);
    const Permutation order(ranks, seed);
    for (std::uint64_t place = 0; place < ranks; ++place) {
      ranks_.push_back(static_cast<int>(order(place)));
      if (ranks_.back() == comm.rank) position_ = place;
    }
  }

  // Partners at a distance that depends on `random`, which is the same on all ranks.
  Partners partners(std::uint64_t random) const {
    const std::size_t ranks = ranks_.size();
    const std::size_t distance = ranks > 1 ? 1 + random % (ranks - 1) : 0;
    return {ranks_[(position_ + distance) % ranks], ranks_[(position_ + ranks - distance) % ranks]};
  }

 private:
  std::vector<int> ranks_;
  std::size_t position_ = 0;
};

}  // namespace hockney::kernels
