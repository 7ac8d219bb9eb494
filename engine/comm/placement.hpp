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

// Where two ranks meet, nearest first: on one core (its hardware threads), in a cache shared by their cores,
// in one socket, on one node, or over the network. They meet on the node if they are in different sockets, or
// if nothing nearer is known because one of them is not bound to a core.
enum class Level { core, cache, socket, node, network };
inline constexpr std::size_t level_count = 5;

const char* name_of(Level level);
std::optional<Level> level_named(std::string_view name);

// Location of one rank. Ranks with the same `node` share memory.
struct RankLocation {
  std::string node;
  Core core;
};

// The locations of a launch's ranks, and the selection of those that measure a case with place= or nodes=. It
// has no side effects, and only rank 0 keeps one, since thousands of simulated ranks share one memory. Rank 0
// always takes part, as rank 0. If several selections are possible, `index`, the launch's number, decides.
class Placement {
 public:
  explicit Placement(const std::vector<RankLocation>& spots);

  int ranks() const { return static_cast<int>(groups_.size()); }
  // The level at which two different ranks meet.
  Level level(int first, int second) const;
  // The number of nodes that contain these ranks, or all ranks if `members` is empty.
  int nodes(const std::vector<int>& members) const;

  // Selects `ranks` ranks, such that rank i and rank i + ranks/2 meet at `level`. If possible, the lower half
  // is on one node (for the network), in one socket (for the node) or in one cache (for the socket), and the
  // upper half in another, so that all pairs share the connection between them. Otherwise each pair is in a
  // separate cache or on a separate core, as far as possible. Throws InvalidCase if there are no such ranks.
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
  std::vector<Pair> scattered_pairs(Level level, std::size_t count, long index) const;
  std::string describe_meeting_levels() const;

  // The groups to which each rank belongs, smallest first: the rank itself, then the ranks that meet at each
  // level or nearer. A group's number is unique for its depth.
  std::vector<std::array<int, 1 + level_count>> groups_;
  bool bound_ = false;  // whether the core of rank 0 is known
};

}  // namespace hockney
