// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace hockney::kernels {

// Where a parallel sort divides the keys among the ranks: by regular samples of each rank's sorted keys (Shi
// and Schaeffer 1992). Keys are compared with their rank and their position in it, so that equal keys are
// divided as well: with s samples of each rank, no rank receives more than n/p + n/s keys or so, whatever the
// keys are.
template <class T>
class Splitters {
 public:
  // Position of a sample in `keys` sorted keys.
  static std::size_t position(std::size_t sample, std::size_t samples, std::size_t keys) {
    return sample * keys / samples;
  }

  // All ranks' samples, those of rank 0 first.
  Splitters(std::span<const T> samples, std::size_t ranks, std::size_t keys) {
    const std::size_t each = samples.size() / ranks;
    std::vector<std::size_t> order(samples.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Ordered by rank and position where keys are equal, as the numbers of the samples are.
    const auto less = [&](std::size_t a, std::size_t b) {
      return samples[a] < samples[b] || (samples[a] == samples[b] && a < b);
    };
    std::sort(order.begin(), order.end(), less);
    for (std::size_t rank = 1; rank < ranks; ++rank) {
      const std::size_t sample = order[rank * samples.size() / ranks];
      bounds_.push_back({samples[sample], sample / each, position(sample % each, each, keys)});
    }
  }

  // Where the parts for each rank begin in the sorted keys of rank `own`, and where the last one ends.
  std::vector<std::size_t> begins(std::span<const T> sorted, std::size_t own) const {
    std::vector<std::size_t> places{0};
    for (const Bound& bound : bounds_) {
      std::size_t place = bound.position;
      if (own < bound.rank)
        place = static_cast<std::size_t>(std::upper_bound(sorted.begin(), sorted.end(), bound.key) -
                                         sorted.begin());
      else if (own > bound.rank)
        place = static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), bound.key) -
                                         sorted.begin());
      places.push_back(place);
    }
    places.push_back(sorted.size());
    return places;
  }

 private:
  struct Bound {
    T key;
    std::size_t rank;
    std::size_t position;
  };

  std::vector<Bound> bounds_;
};

}  // namespace hockney::kernels
