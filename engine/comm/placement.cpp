// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/placement.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>

#include "base/expect.hpp"
#include "base/invalid_case.hpp"
#include "base/random.hpp"

namespace hockney {
namespace {

constexpr std::array<const char*, level_count> names = {"core", "cache", "socket", "node", "network"};

// Depth of the groups whose ranks meet nearer than at `level`; groups that meet at `level` are one deeper.
constexpr std::size_t depth_below(Level level) {
  return static_cast<std::size_t>(level);
}

// Random choices of one launch. Its index is mixed, because launches of one kind may all have even indices.
class Draw {
 public:
  explicit Draw(long index) : state_(static_cast<std::uint64_t>(index)) {}
  std::size_t depth_below(std::size_t end) {
    state_ = mix(state_);
    return static_cast<std::size_t>(state_ % end);
  }

 private:
  std::uint64_t state_;
};

// Selects `count` consecutive ranks, starting anywhere and wrapping around, in ascending order.
std::vector<int> window(const std::vector<int>& ranks, std::size_t count, Draw& draw) {
  std::vector<int> members;
  if (count == 0) return members;
  const std::size_t first = draw.depth_below(ranks.size());
  for (std::size_t i = 0; i < count; ++i) members.push_back(ranks[(first + i) % ranks.size()]);
  std::sort(members.begin(), members.end());
  return members;
}

// The same selection, including the first rank.
std::vector<int> window_with_first(const std::vector<int>& ranks, std::size_t count, Draw& draw) {
  std::vector<int> members = window({ranks.begin() + 1, ranks.end()}, count - 1, draw);
  members.insert(members.begin(), ranks.front());
  return members;
}

std::string quantity_text(std::size_t number, const char* noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

// Numbers distinct keys in the order of their first appearance.
template <class Key>
class Numbers {
 public:
  int number_for(const Key& key) {
    return numbers_.try_emplace(key, static_cast<int>(numbers_.size())).first->second;
  }

 private:
  std::map<Key, int> numbers_;
};

}  // namespace

const char* name_of(Level level) {
  return names[static_cast<std::size_t>(level)];
}

std::optional<Level> level_named(std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Level>(found - names.begin());
}

Placement::Placement(const std::vector<RankLocation>& spots)
    : bound_(!spots.empty() && spots.front().core.core >= 0) {
  HOCKNEY_EXPECT(!spots.empty());
  // If a number is unknown, the ranks share nothing: the group keeps the smaller group's number.
  using Key = std::tuple<int, int, int>;
  Numbers<std::string> nodes;
  std::array<Numbers<Key>, 3> numbers;
  for (const RankLocation& location : spots) {
    const int rank = ranks();
    const int node = nodes.number_for(location.node);
    const auto [core, cache, socket] = location.core;
    int smaller_group = rank;
    std::array<int, 3> found{};
    for (std::size_t i = 0; const int number : {core, cache, socket}) {
      const bool is_known = core >= 0 && number >= 0;
      smaller_group = numbers[i].number_for(is_known ? Key{node, number, -1} : Key{node, -1, smaller_group});
      found[i++] = smaller_group;
    }
    groups_.push_back({rank, found[0], found[1], found[2], node, 0});
  }
}

Level Placement::level(int first, int second) const {
  HOCKNEY_EXPECT(first != second);
  std::size_t depth = 1;
  while (group(first, depth) != group(second, depth)) ++depth;
  return static_cast<Level>(depth - 1);
}

int Placement::nodes(const std::vector<int>& members) const {
  return static_cast<int>(divided(members.empty() ? all() : members, depth_below(Level::network)).size());
}

Placement::Ranks Placement::all() const {
  Ranks ranks(groups_.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// The ranks by group, in the order of the groups' first ranks.
std::vector<Placement::Ranks> Placement::divided(const Ranks& ranks, std::size_t depth) const {
  Numbers<int> numbers;
  std::vector<Ranks> found;
  for (const int rank : ranks) {
    const auto number = static_cast<std::size_t>(numbers.number_for(group(rank, depth)));
    if (number == found.size()) found.emplace_back();
    found[number].push_back(rank);
  }
  return found;
}

// The first of a node's ranks and the ranks nearest to it, in ascending order: cores, caches and sockets are
// filled one after another.
Placement::Ranks Placement::nearest(Ranks node, std::size_t count) const {
  std::stable_sort(node.begin(), node.end(), [this](int first, int second) {
    for (const Level level : {Level::socket, Level::cache, Level::core}) {
      const std::size_t depth = depth_below(level) + 1;
      if (group(first, depth) != group(second, depth)) return group(first, depth) < group(second, depth);
    }
    return false;
  });
  node.resize(count);
  std::sort(node.begin(), node.end());
  return node;
}

// As many pairs of these ranks as possible, each with ranks of two different groups. If rank 0 is among them,
// and there are several groups, it is the first rank of the first pair.
std::vector<Placement::Pair> Placement::pairs_in(const Ranks& ranks, std::size_t depth) const {
  std::vector<Ranks> groups = divided(ranks, depth);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Ranks& first, const Ranks& second) { return first.size() > second.size(); });
  // With the groups arranged one after another, ranks half of the total length apart are in different groups
  // if no group is longer than that.
  std::size_t total = ranks.size();
  Ranks& largest = groups.front();
  while (2 * largest.size() > total && !largest.empty()) {
    largest.pop_back();
    --total;
  }
  if (total % 2 != 0) {
    // One rank is left over: the last one of the last group that is as large as the largest.
    const auto smaller_group = std::find_if(
        groups.begin(), groups.end(), [&](const Ranks& group) { return group.size() < largest.size(); });
    (smaller_group - 1)->pop_back();
    --total;
  }
  Ranks row;
  for (const Ranks& group : groups) row.insert(row.end(), group.begin(), group.end());
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < total / 2; ++i) {
    const auto bounds = std::minmax(row[i], row[i + total / 2]);
    pairs.emplace_back(bounds.first, bounds.second);
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

// Pairs that meet at `level`, rank 0's pair first: `count` pairs, or all if there are fewer. Pairs on rank
// 0's node come first; on a node, the groups of ranks that meet at this level contribute pairs in turn.
std::vector<Placement::Pair> Placement::scattered_pairs(Level level, std::size_t count, long index) const {
  Draw draw(index);
  std::vector<Ranks> nodes =
      level == Level::network ? std::vector<Ranks>{all()} : divided(all(), depth_below(Level::network));
  if (nodes.size() > 2) {
    const auto rotation = static_cast<std::ptrdiff_t>(draw.depth_below(nodes.size() - 1));
    std::rotate(nodes.begin() + 1, nodes.begin() + 1 + rotation, nodes.end());
  }
  std::vector<Pair> found;
  for (const Ranks& node : nodes) {
    std::vector<std::vector<Pair>> sources;
    std::size_t max_pairs = 0;
    for (const Ranks& group : divided(node, depth_below(level) + 1)) {
      sources.push_back(pairs_in(group, depth_below(level)));
      max_pairs = std::max(max_pairs, sources.back().size());
    }
    for (std::size_t round = 0; round < max_pairs; ++round)
      for (const std::vector<Pair>& source : sources) {
        if (round < source.size()) found.push_back(source[round]);
        if (found.size() == count) return found;
      }
  }
  return found;
}

std::vector<int> Placement::pairs(Level level, int ranks, long index) const {
  HOCKNEY_EXPECT(ranks >= 2 && ranks % 2 == 0);
  const auto half = static_cast<std::size_t>(ranks / 2);
  const std::size_t depth = depth_below(level);
  Ranks candidates;
  for (const int rank : all())
    if (group(rank, depth + 1) == group(0, depth + 1)) candidates.push_back(rank);
  std::vector<Ranks> groups = divided(candidates, depth);
  if (groups.size() < 2)
    throw InvalidCase(std::string("place=") + name_of(level) + ": no rank meets rank 0 there; " +
                      describe_meeting_levels());
  Draw draw(index);
  const bool has_enough = groups.front().size() >= half;
  const Ranks home = has_enough ? window_with_first(groups.front(), half, draw) : Ranks{};
  groups.erase(groups.begin());
  std::erase_if(groups, [half](const Ranks& group) { return group.size() < half; });
  if (has_enough && !groups.empty()) {
    const Ranks opposite_half = window(groups[draw.depth_below(groups.size())], half, draw);
    Ranks members = home;
    members.insert(members.end(), opposite_half.begin(), opposite_half.end());
    return members;
  }
  const std::vector<Pair> found = scattered_pairs(level, half, index);
  if (found.size() < half)
    throw InvalidCase(std::string("place=") + name_of(level) + " ranks=" + std::to_string(ranks) + " needs " +
                      quantity_text(half, "pair") + " of ranks, but the launch has " +
                      std::to_string(found.size()) + "; " + describe_meeting_levels());
  Ranks members;
  for (const Pair& pair : found) members.push_back(pair.first);
  for (const Pair& pair : found) members.push_back(pair.second);
  return members;
}

std::vector<int> Placement::spread(int nodes, int ranks, long index) const {
  HOCKNEY_EXPECT(nodes >= 1 && ranks >= nodes && ranks % nodes == 0);
  const auto count = static_cast<std::size_t>(nodes);
  const auto ranks_per_node = static_cast<std::size_t>(ranks / nodes);
  std::vector<Ranks> found = divided(all(), depth_below(Level::network));
  const std::size_t node_count = found.size();
  const auto [least, max_pairs] = std::minmax_element(
      found.begin(), found.end(),
      [](const Ranks& first, const Ranks& second) { return first.size() < second.size(); });
  const std::string sizes =
      least->size() == max_pairs->size()
          ? quantity_text(least->size(), "rank") + (node_count == 1 ? "" : " on each")
          : std::to_string(least->size()) + " to " + quantity_text(max_pairs->size(), "rank");
  const bool home_is_large_enough = found.front().size() >= ranks_per_node;
  std::erase_if(found, [ranks_per_node](const Ranks& node) { return node.size() < ranks_per_node; });
  if (!home_is_large_enough || found.size() < count)
    throw InvalidCase("nodes=" + std::to_string(nodes) + " ranks=" + std::to_string(ranks) + " needs " +
                      quantity_text(ranks_per_node, "rank") + " on " +
                      (count == 1
                           ? "the node of rank 0"
                           : "each of " + quantity_text(count, "node") + ", one of them that of rank 0") +
                      ", but the launch has " + quantity_text(node_count, "node") + " with " + sizes);
  Draw draw(index);
  // Indices of the participating nodes in `found`.
  Ranks numbers(found.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  Ranks members;
  for (const int number : window_with_first(numbers, count, draw)) {
    const Ranks nearest_ranks = nearest(found[static_cast<std::size_t>(number)], ranks_per_node);
    members.insert(members.end(), nearest_ranks.begin(), nearest_ranks.end());
  }
  return members;
}

// Text for error messages: "of the launch's 7 other ranks, 1 meets rank 0 at core and 6 at network".
std::string Placement::describe_meeting_levels() const {
  std::array<std::size_t, level_count> counts{};
  for (int rank = 1; rank < ranks(); ++rank) ++counts[static_cast<std::size_t>(level(0, rank))];
  std::string list;
  for (std::size_t i = 0; i < level_count; ++i)
    if (counts[i]) list += (list.empty() ? "" : ", ") + std::to_string(counts[i]) + " at " + names[i];
  std::string text = "its other ranks meet rank 0 as follows: " + (list.empty() ? "there are none" : list);
  if (!bound_ && counts[static_cast<std::size_t>(Level::node)])
    text += " (nearer is only known of ranks that are bound to a core each, on a real machine)";
  return text;
}

}  // namespace hockney
