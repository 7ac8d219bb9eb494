// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/topology.hpp"

namespace hockney {

// Where two ranks meet, nearest first: on one core (its hardware threads); in a cache that their cores share;
// in one socket; on one node, if they are in different sockets, or if nothing nearer is known because one of
// them is not bound to a core; or over the network.
enum class Level { core, cache, socket, node, network };
inline constexpr std::size_t level_count = 5;

const char* name_of(Level level);
std::optional<Level> level_named(std::string_view name);

// Where one rank is. Ranks with the same `node` share memory.
struct Spot {
  std::string node;
  Core core;
};

// Where the ranks of a launch are, and which of them measure a case that asks for places. Pure; kept by rank
// 0 only, since thousands of simulated ranks share one memory. Rank 0 always takes part, as rank 0. Where
// there are several choices, `index`, the launch's, decides.
class Placement {
 public:
  explicit Placement(const std::vector<Spot>& spots);

  int ranks() const { return static_cast<int>(groups_.size()); }
  // Of two different ranks.
  Level level(int one, int other) const;
  // The number of nodes on which these ranks are; of all ranks if there are none.
  int nodes(const std::vector<int>& members) const;

  // `ranks` ranks, of which rank i and rank i + ranks/2 meet at `level`. If possible, the lower half of them
  // is on one node (for the network), in one socket (for the node) or in one cache (for the socket), and the
  // upper half in another one, so that all pairs share what is between these. Otherwise pairs are apart: each
  // in a cache or on a core of its own while there are such. Throws InvalidCase if there are no such ranks.
  std::vector<int> pairs(Level level, int ranks, long index) const;

  // `ranks` ranks on `nodes` nodes, equally many on each, consecutive ranks on one node. Only the nodes
  // depend on `index`: on each the chosen ranks are the same in every launch, as near to each other as
  // possible, so that a case has messages of the same levels whenever it is measured. Throws InvalidCase if
  // there are no such ranks.
  std::vector<int> spread(int nodes, int ranks, long index) const;

 private:
  using Ranks = std::vector<int>;
  using Pair = std::pair<int, int>;

  int group(int rank, std::size_t depth) const { return groups_[static_cast<std::size_t>(rank)][depth]; }
  Ranks all() const;
  std::vector<Ranks> divided(const Ranks& ranks, std::size_t depth) const;
  Ranks nearest(Ranks node, std::size_t count) const;
  std::vector<Pair> pairs_in(const Ranks& ranks, std::size_t depth) const;
  std::vector<Pair> scattered_pairs(Level level, std::size_t wanted, long index) const;
  std::string where_rank_0_meets() const;

  // The groups to which each rank belongs, from the smallest: itself alone, then those who meet at each level
  // or nearer. A group's number is unique for its depth.
  std::vector<std::array<int, 1 + level_count>> groups_;
  bool bound_ = false;  // whether the core of rank 0 is known
};

}  // namespace hockney
