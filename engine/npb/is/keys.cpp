// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/is/keys.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "npb/frame/random.hpp"

namespace hockney::npb {

void make_keys(std::span<Key> keys, std::size_t first, std::int64_t values) {
  constexpr std::size_t together = 1024;
  std::array<double, 4 * together> numbers;
  const double scale = static_cast<double>(values) / 4;
  for (std::size_t done = 0; done < keys.size(); done += together) {
    const std::size_t count = std::min(together, keys.size() - done);
    fill_random(numbers.data(), 4 * count, 314159265, 4 * (first + done));
    for (std::size_t i = 0; i < count; ++i) {
      const double* r = numbers.data() + 4 * i;
      keys[done + i] = static_cast<Key>(scale * (r[0] + r[1] + r[2] + r[3]));
    }
  }
}

void count_by_bucket(std::span<const Key> keys, int shift, std::span<std::int64_t> counts) {
  // Two tables, so that increments of one counter rarely wait for each other.
  const std::size_t buckets = counts.size();
  std::vector<std::uint32_t> tables(2 * buckets);
  std::uint32_t *even = tables.data(), *odd_counts = even + buckets;
  std::size_t i = 0;
  for (; i + 2 <= keys.size(); i += 2) {
    ++even[keys[i] >> shift];
    ++odd_counts[keys[i + 1] >> shift];
  }
  if (i < keys.size()) ++even[keys[i] >> shift];
  for (std::size_t k = 0; k < buckets; ++k) counts[k] = std::int64_t{even[k]} + odd_counts[k];
}

void sort_by_bucket(std::span<const Key> keys, int shift, std::span<std::uint32_t> places, Key* sorted) {
  std::uint32_t* const next = places.data();
  for (const Key key : keys) sorted[next[key >> shift]++] = key;
}

void compute_value_ranks(std::span<const std::span<const Key>> parts, Key min_value,
                         std::span<std::int32_t> ranks) {
  std::fill(ranks.begin(), ranks.end(), 0);
  for (const std::span<const Key> keys : parts)
    for (const Key key : keys) ++ranks[static_cast<std::size_t>(key - min_value)];
  std::int32_t lower_count = 0;
  for (std::int32_t& rank : ranks) {
    const std::int32_t equal = rank;
    rank = lower_count;
    lower_count += equal;
  }
}

}  // namespace hockney::npb
