// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "comm/environment.hpp"

namespace hockney::congestion {

// How ranks are assigned to victims and congestors: random draws the victims again in each launch, blocked
// takes the first ranks, and interleaved spaces the victims evenly.
enum class Allocation { random, blocked, interleaved };

// The role of each rank. Whole nodes have one role if there are enough of them, otherwise single ranks.
class Roles {
 public:
  // `share` is that of the victims, from 0 to 1. At least two nodes, or ranks, have each role. `node_of_rank`
  // has at least four entries. Only a random allocation depends on `launch`.
  Roles(const std::vector<std::string>& node_of_rank, double share, Allocation allocation,
        std::uint64_t launch) {
    const std::vector<std::size_t> unit_of_rank = units(node_of_rank);
    const std::size_t count = *std::max_element(unit_of_rank.begin(), unit_of_rank.end()) + 1;
    const auto rounded = static_cast<std::size_t>(std::lround(share * static_cast<double>(count)));
    const std::size_t victims = std::clamp(rounded, min_units, count - min_units);
    std::vector<bool> is_victim_unit(count);
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    if (allocation == Allocation::random) shuffle(order, launch);
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_spread = (i + 1) * victims / count > i * victims / count;
      is_victim_unit[order[i]] = allocation == Allocation::interleaved ? is_spread : i < victims;
    }
    std::vector<std::size_t> positions(unit_of_rank.size());
    std::iota(positions.begin(), positions.end(), 0);
    if (allocation == Allocation::random) shuffle(positions, ~launch);
    for (const std::size_t rank : positions)
      (is_victim_unit[unit_of_rank[rank]] ? victims_ : congestors_).push_back(static_cast<int>(rank));
  }

  // The ranks of each role, in the order of their communicator.
  const std::vector<int>& victims() const { return victims_; }
  const std::vector<int>& congestors() const { return congestors_; }

 private:
  static constexpr std::size_t min_units = 2;

  static std::vector<std::size_t> units(const std::vector<std::string>& node_of_rank) {
    std::map<std::string, std::size_t> numbers;
    std::vector<std::size_t> nodes;
    for (const std::string& node : node_of_rank)
      nodes.push_back(numbers.try_emplace(node, numbers.size()).first->second);
    if (numbers.size() < 2 * min_units) std::iota(nodes.begin(), nodes.end(), 0);
    return nodes;
  }

  // Fisher-Yates.
  static void shuffle(std::vector<std::size_t>& items, std::uint64_t seed) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[mix(mix(seed) ^ i) % i]);
  }

  std::vector<int> victims_;
  std::vector<int> congestors_;
};

// The node of each rank. Collective.
inline std::vector<std::string> nodes_of_ranks(const Comm& comm) {
  const std::string all = comm.allgather_text(locate(comm).node + "\n");
  std::vector<std::string> nodes;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at);
    nodes.push_back(all.substr(at, end - at));
    at = end + 1;
  }
  return nodes;
}

}  // namespace hockney::congestion
