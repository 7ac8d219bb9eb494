// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/comm.hpp"
#include "kernels/permutation.hpp"

namespace hockney::kernels {

// The ranks in a circle, in random order. If all send to the rank at the same distance, that is a permutation
// in which no rank sends to itself, unless it is the only one.
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
      at_.push_back(static_cast<int>(order(place)));
      if (at_.back() == comm.rank) own_ = place;
    }
  }

  // At a distance that depends on `random`, the same on all ranks.
  Partners partners(std::uint64_t random) const {
    const std::size_t ranks = at_.size();
    const std::size_t distance = ranks > 1 ? 1 + random % (ranks - 1) : 0;
    return {at_[(own_ + distance) % ranks], at_[(own_ + ranks - distance) % ranks]};
  }

 private:
  std::vector<int> at_;
  std::size_t own_ = 0;
};

}  // namespace hockney::kernels
