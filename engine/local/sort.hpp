// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

// Sorting and merging of one process, for the kernels. All results are in ascending order.
namespace hockney::local {

// Sorts with Highway's vectorised quicksort, if the build found it, or std::sort.
void sort(std::span<double> keys);
void sort(std::span<std::uint32_t> keys);

// The implementation in use: "vqsort" or "std::sort".
const char* sorting();

// Number of keys from `first` among the first `count` keys of the merged sequence; of equal keys, those from
// `first` come first.
template <class T>
std::size_t count_from_first(std::span<const T> first, std::span<const T> second, std::size_t count) {
  std::size_t low = count > second.size() ? count - second.size() : 0;
  std::size_t high = std::min(count, first.size());
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (second[count - middle - 1] < first[middle])
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// Merges two sequences into `to`, which is as long as both. A merge is a chain of comparisons, each of which
// waits for the previous one, so several parts of the result are merged at the same time.
template <class T>
void merge(std::span<const T> first, std::span<const T> second, T* to) {
  constexpr std::size_t chains = 4;
  struct Chain {
    const T* first;
    const T* first_end;
    const T* second;
    const T* second_end;
    T* to;
    std::size_t unguarded_steps() const {
      return static_cast<std::size_t>(std::min(first_end - first, second_end - second));
    }
    void step() {
      const bool takes_second = *second < *first;
      *to++ = takes_second ? *second : *first;
      second += takes_second;
      first += !takes_second;
    }
  };
  std::array<Chain, chains> parts;
  const std::size_t total = first.size() + second.size();
  std::size_t begin = 0;
  std::size_t from_first = 0;
  for (std::size_t i = 0; i < chains; ++i) {
    const std::size_t end = total * (i + 1) / chains;
    const std::size_t first_end_index = count_from_first(first, second, end);
    parts[i] = {first.data() + from_first, first.data() + first_end_index,
                second.data() + (begin - from_first), second.data() + (end - first_end_index), to + begin};
    begin = end;
    from_first = first_end_index;
  }
  for (;;) {
    std::size_t steps = parts[0].unguarded_steps();
    for (const Chain& part : parts) steps = std::min(steps, part.unguarded_steps());
    if (steps == 0) break;
    std::array<Chain, chains> active_chains = parts;
    for (; steps > 0; --steps)
      for (Chain& part : active_chains) part.step();
    parts = active_chains;
  }
  for (Chain& part : parts) {
    for (std::size_t steps = 0; (steps = part.unguarded_steps()) > 0;)
      for (; steps > 0; --steps) part.step();
    std::copy(part.second, part.second_end, std::copy(part.first, part.first_end, part.to));
  }
}

// Merges sorted runs in pairs into `to`, which is as long as all of them; `scratch` is temporary memory.
// Returns the number of keys written.
template <class T>
std::size_t merge_runs(std::vector<std::span<const T>> runs, std::span<T> to, std::vector<T>& scratch) {
  std::erase_if(runs, [](std::span<const T> run) { return run.empty(); });
  if (runs.empty()) return 0;
  if (runs.size() == 1) {
    std::copy(runs[0].begin(), runs[0].end(), to.begin());
    return runs[0].size();
  }
  int rounds = 0;
  for (std::size_t left = runs.size(); left > 1; left = (left + 1) / 2) ++rounds;
  if (rounds > 1 && scratch.size() < to.size()) scratch.resize(to.size());
  std::size_t written = 0;
  for (std::vector<std::span<const T>> merged; runs.size() > 1; runs.swap(merged), merged.clear()) {
    // The last round writes to `to`.
    T* const target = rounds % 2 == 1 ? to.data() : scratch.data();
    --rounds;
    written = 0;
    for (std::size_t i = 0; i < runs.size(); i += 2) {
      const std::span<const T> second = i + 1 < runs.size() ? runs[i + 1] : std::span<const T>();
      merge(runs[i], second, target + written);
      merged.emplace_back(target + written, runs[i].size() + second.size());
      written += merged.back().size();
    }
  }
  return written;
}

}  // namespace hockney::local
