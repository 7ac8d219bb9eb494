// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// Operations of a rank on its keys.
namespace hockney::npb {

using Key = std::int32_t;

// Generates keys, starting with number `first`: sums of four random numbers, as integers below `values`.
void make_keys(std::span<Key> keys, std::size_t first, std::int64_t values);

// Counts the keys in each bucket, which has 2^shift values.
void count_by_bucket(std::span<const Key> keys, int shift, std::span<std::int64_t> counts);

// Copies the keys to their buckets in `sorted`. `places` gives the start of each bucket, and is advanced to
// its end.
void sort_by_bucket(std::span<const Key> keys, int shift, std::span<std::uint32_t> places, Key* sorted);

// Sets ranks[v] to the number of keys in all parts that are less than min_value + v.
void compute_value_ranks(std::span<const std::span<const Key>> parts, Key min_value,
                         std::span<std::int32_t> ranks);

}  // namespace hockney::npb
