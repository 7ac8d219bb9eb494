// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "kernels/kernel_base.hpp"
#include "kernels/keys.hpp"

namespace hockney::kernels {

// Number of operations counted for sorting; merging counts one for each key.
inline double sorting_operations(std::size_t keys) {
  return keys < 2 ? 0.0 : static_cast<double>(keys) * std::log2(static_cast<double>(keys));
}

// Base class of parallel sorts: `keys` keys of each rank, which a run does not change, and a sorted result,
// of which this rank has a part.
template <class T>
class SortBase : public KernelBase {
 public:
  SortBase(const Place& place, const Values& values)
      : KernelBase(place, values),
        keys_(static_cast<std::size_t>(values.integer("keys"))),
        sort_rate_(simulated_rate(values, "rate")),
        merge_rate_(simulated_rate(values, "merge_rate")),
        distribution_(values.word("distribution")),
        input_(keys_),
        sorted_(keys_) {}

  void fill(const Payload& payload) final {
    const Keys<T> all = expected(payload);
    const std::uint64_t first = keys_ * static_cast<std::uint64_t>(comm_.rank);
    for (std::size_t i = 0; i < keys_; ++i) input_[i] = all.input(first + i);
    result_ = {};
  }

  Check verify(const Payload& payload) final {
    Check found = expected(payload).check(result_, first_);
    result_ = {};
    return found;
  }

  std::uint64_t bytes_moved() const final { return keys_ * sizeof(T); }

  void report(MetricValues& values) final {
    KernelBase::report(values);
    values.label("local_sort", local::sorting());
  }

 protected:
  // Sorts this rank's keys into sorted_.
  void sort_local_keys() {
    std::copy(input_.begin(), input_.end(), sorted_.begin());
    local::sort(std::span(sorted_));
    ledger_.compute(sorting_operations(keys_), sort_rate_);
  }
  // Counts the merging that produced this many keys.
  void count_merged(std::size_t count) { ledger_.compute(static_cast<double>(count), merge_rate_); }
  // Sets this rank's part of the result, which is preceded by `first` keys.
  void set_result(std::span<const T> result, std::uint64_t first) {
    result_ = result;
    first_ = first;
  }

  const std::size_t keys_;
  const double sort_rate_;
  const double merge_rate_;

 private:
  Keys<T> expected(const Payload& payload) const { return {keys_ * ranks_, distribution_, payload.seed}; }

  const std::string distribution_;
  std::vector<T> input_;
  std::span<const T> result_;
  std::uint64_t first_ = 0;

 protected:
  std::vector<T> sorted_;
};

constexpr Parameter keys_of(const char* standard, const char* help) {
  return {"keys", Kind::integer, "", standard, 1, 1e10, "", help};
}

inline constexpr Parameter key_type_parameter{
    "type", Kind::choice, "", "double", 0, 0, "double|uint32", "type of the keys: 8 or 4 bytes"};

inline constexpr Parameter sort_rate_parameter =
    rate_of("rate", "simulated machines: comparisons per second while sorting m keys, which are m log2 m");
inline constexpr Parameter merge_rate_parameter =
    rate_of("merge_rate", "simulated machines: keys per second of a merge");

// Makes a parallel sort for the key type that the case names.
template <template <class> class Sort>
std::unique_ptr<Workload> make_sort(const Place& place, const Values& values) {
  if (values.word("type") == "double") return std::make_unique<Sort<double>>(place, values);
  return std::make_unique<Sort<std::uint32_t>>(place, values);
}

}  // namespace hockney::kernels
