// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace hockney::kernels {

// Divides the keys of a parallel sort among the ranks, by regular samples of each rank's sorted keys (Shi and
// Schaeffer 1992). Keys are compared together with their rank and their position, so that equal keys are
// divided as well: with s samples of each rank, no rank receives more than about n/p + n/s keys, whatever the
// keys are.
template <class T>
class Splitters {
 public:
  // Position of a sample among `keys` sorted keys.
  static std::size_t position(std::size_t sample, std::size_t samples, std::size_t keys) {
    return sample * keys / samples;
  }

  // `samples`: the samples of all ranks, in rank order.
  Splitters(std::span<const T> samples, std::size_t ranks, std::size_t keys) {
    const std::size_t each = samples.size() / ranks;
    std::vector<std::size_t> order(samples.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Equal keys are ordered by rank and position, as are the sample numbers.
    const auto is_less = [&](std::size_t a, std::size_t b) {
      return samples[a] < samples[b] || (samples[a] == samples[b] && a < b);
    };
    std::sort(order.begin(), order.end(), is_less);
    for (std::size_t rank = 1; rank < ranks; ++rank) {
      const std::size_t sample = order[rank * samples.size() / ranks];
      bounds_.push_back({samples[sample], sample / each, position(sample % each, each, keys)});
    }
  }

  // Start of each rank's part in the sorted keys of rank `rank`, and the end of the last part.
  std::vector<std::size_t> part_starts(std::span<const T> sorted, std::size_t rank) const {
    std::vector<std::size_t> places{0};
    for (const Bound& bound : bounds_) {
      std::size_t place = bound.position;
      if (rank < bound.rank)
        place = static_cast<std::size_t>(std::upper_bound(sorted.begin(), sorted.end(), bound.key) -
                                         sorted.begin());
      else if (rank > bound.rank)
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
