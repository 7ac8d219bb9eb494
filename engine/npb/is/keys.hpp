// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// What a rank does with its keys.
namespace hockney::npb {

using Key = std::int32_t;

// The keys from number `first` on: sums of four random numbers, as integers below `values`.
void make_keys(std::span<Key> keys, std::size_t first, std::int64_t values);

// How many keys are in each bucket, which has 2^shift values.
void count_by_bucket(std::span<const Key> keys, int shift, std::span<std::int64_t> counts);

// Copies the keys to where their bucket begins in `sorted`; `places` is where, and ends up behind them.
void sort_by_bucket(std::span<const Key> keys, int shift, std::span<std::uint32_t> places, Key* sorted);

// ranks[v] becomes the number of keys below lowest + v, of those in all parts.
void rank_values(std::span<const std::span<const Key>> parts, Key lowest, std::span<std::int32_t> ranks);

}  // namespace hockney::npb
