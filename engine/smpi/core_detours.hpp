// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace hockney::smpi {

// Detours that repeat with a period: intervals during which a core does not run the program. They are in
// order and do not overlap. They concern the ranks first, first + step, ... on the given nodes (none: on
// all). Each rank has its own phase.
struct DetourPattern {
  double period_s = 0;
  std::uint64_t seed = 0;
  std::size_t first_rank = 0;
  std::size_t rank_step = 1;
  std::vector<std::size_t> nodes;
  std::vector<double> starts_s, lengths_s;
};

// When the cores of all ranks work for their programs. A detour delays whatever the program does: if it
// begins while the program computes, or while the program could begin, the rest happens after its end, as in
// the replay of Hoefler, Schneider and Lumsdaine (SC 2010). Detours of different patterns that overlap count
// once.
class CoreDetours {
 public:
  explicit CoreDetours(std::vector<DetourPattern> patterns) : patterns_(std::move(patterns)) {}

  bool empty() const { return patterns_.empty(); }

  // When work of `seconds` that a rank can begin at `start` ends.
  double end_of(std::size_t node, std::size_t rank, double start, double seconds) const {
    double time = start;
    for (;;) {
      const Interval next = first_after(node, rank, time);
      if (next.begin >= time + seconds) return time + seconds;
      seconds -= std::max(0.0, next.begin - time);
      time = next.end;
    }
  }

 private:
  struct Interval {
    double begin, end;
  };
  // Detours that end within this time are over: times are sums, and their last bits are arbitrary.
  static constexpr double tolerance_s = 1e-12;
  static constexpr Interval never{std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::infinity()};

  static bool concerns(const DetourPattern& pattern, std::size_t node, std::size_t rank) {
    if (rank % pattern.rank_step != pattern.first_rank % pattern.rank_step || rank < pattern.first_rank)
      return false;
    return pattern.nodes.empty() ||
           std::find(pattern.nodes.begin(), pattern.nodes.end(), node) != pattern.nodes.end();
  }

  // The first detour of any pattern that ends after `time`.
  Interval first_after(std::size_t node, std::size_t rank, double time) const {
    Interval first = never;
    for (std::size_t k = 0; k < patterns_.size(); ++k) {
      if (!concerns(patterns_[k], node, rank)) continue;
      const Interval next = first_of(patterns_[k], phase(patterns_[k], rank, k), time + tolerance_s);
      if (next.begin < first.begin) first = next;
    }
    return first;
  }

  static Interval first_of(const DetourPattern& pattern, double phase_s, double time) {
    const double period = std::floor((time + phase_s) / pattern.period_s);
    const double within = time + phase_s - period * pattern.period_s;
    const auto at = std::upper_bound(pattern.starts_s.begin(), pattern.starts_s.end(), within);
    auto index = static_cast<std::size_t>(at - pattern.starts_s.begin());
    if (index > 0 && pattern.starts_s[index - 1] + pattern.lengths_s[index - 1] > within) --index;
    double origin = period * pattern.period_s - phase_s;
    if (index == pattern.starts_s.size()) {
      index = 0;
      origin += pattern.period_s;
    }
    const double begin = origin + pattern.starts_s[index];
    return {begin, begin + pattern.lengths_s[index]};
  }

  // Uniform within the period: SplitMix64 (Steele, Lea and Flood 2014) of the seed, the rank and the pattern.
  static double phase(const DetourPattern& pattern, std::size_t rank, std::size_t index) {
    std::uint64_t z = pattern.seed;
    for (const std::uint64_t part : {static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(index)}) {
      z = (z ^ part) + 0x9e3779b97f4a7c15;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
      z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
      z ^= z >> 31;
    }
    return static_cast<double>(z >> 11) * 0x1p-53 * pattern.period_s;
  }

  std::vector<DetourPattern> patterns_;
};

}  // namespace hockney::smpi
