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

// The depth of the groups whose ranks meet nearer than at `level`; those that meet there are one deeper.
constexpr std::size_t below(Level level) {
  return static_cast<std::size_t>(level);
}

// The choices of one launch. Its index is mixed, because launches of one kind may all have even ones.
class Draw {
 public:
  explicit Draw(long index) : state_(static_cast<std::uint64_t>(index)) {}
  std::size_t below(std::size_t end) {
    state_ = mix(state_);
    return static_cast<std::size_t>(state_ % end);
  }

 private:
  std::uint64_t state_;
};

// `count` of the ranks: consecutive ones, beginning anywhere and continuing at the front, in ascending order.
std::vector<int> window(const std::vector<int>& ranks, std::size_t count, Draw& draw) {
  std::vector<int> chosen;
  if (count == 0) return chosen;
  const std::size_t first = draw.below(ranks.size());
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(ranks[(first + i) % ranks.size()]);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

// The same with the first rank.
std::vector<int> window_with_first(const std::vector<int>& ranks, std::size_t count, Draw& draw) {
  std::vector<int> chosen = window({ranks.begin() + 1, ranks.end()}, count - 1, draw);
  chosen.insert(chosen.begin(), ranks.front());
  return chosen;
}

std::string counted(std::size_t number, const char* what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

// Gives every different key a number, in the order of their first appearance.
template <class Key>
class Numbers {
 public:
  int of(const Key& key) {
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

Placement::Placement(const std::vector<Spot>& spots)
    : bound_(!spots.empty() && spots.front().core.core >= 0) {
  HOCKNEY_EXPECT(!spots.empty());
  // A rank shares nothing of which the number is unknown: the group has the smaller group's number instead.
  using Key = std::tuple<int, int, int>;
  Numbers<std::string> nodes;
  std::array<Numbers<Key>, 3> numbers;
  for (const Spot& spot : spots) {
    const int rank = ranks();
    const int node = nodes.of(spot.node);
    const auto [core, cache, socket] = spot.core;
    int smaller = rank;
    std::array<int, 3> found{};
    for (std::size_t i = 0; const int number : {core, cache, socket}) {
      const bool known = core >= 0 && number >= 0;
      smaller = numbers[i].of(known ? Key{node, number, -1} : Key{node, -1, smaller});
      found[i++] = smaller;
    }
    groups_.push_back({rank, found[0], found[1], found[2], node, 0});
  }
}

Level Placement::level(int one, int other) const {
  HOCKNEY_EXPECT(one != other);
  std::size_t depth = 1;
  while (group(one, depth) != group(other, depth)) ++depth;
  return static_cast<Level>(depth - 1);
}

int Placement::nodes(const std::vector<int>& members) const {
  return static_cast<int>(divided(members.empty() ? all() : members, below(Level::network)).size());
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
    const auto number = static_cast<std::size_t>(numbers.of(group(rank, depth)));
    if (number == found.size()) found.emplace_back();
    found[number].push_back(rank);
  }
  return found;
}

// The first of these ranks of one node and those nearest to it, in ascending order: cores, caches and sockets
// are filled one after another.
Placement::Ranks Placement::nearest(Ranks node, std::size_t count) const {
  std::stable_sort(node.begin(), node.end(), [this](int one, int other) {
    for (const Level level : {Level::socket, Level::cache, Level::core}) {
      const std::size_t depth = below(level) + 1;
      if (group(one, depth) != group(other, depth)) return group(one, depth) < group(other, depth);
    }
    return false;
  });
  node.resize(count);
  std::sort(node.begin(), node.end());
  return node;
}

// As many pairs of these ranks as possible, each with one rank of two different groups. If rank 0 is among
// them, and there are several groups, it is the first of the first pair.
std::vector<Placement::Pair> Placement::pairs_in(const Ranks& ranks, std::size_t depth) const {
  std::vector<Ranks> groups = divided(ranks, depth);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Ranks& one, const Ranks& other) { return one.size() > other.size(); });
  // In a row, group after group, ranks that are half of its length apart are in different groups if no group
  // is longer than that.
  std::size_t total = ranks.size();
  Ranks& largest = groups.front();
  while (2 * largest.size() > total && !largest.empty()) {
    largest.pop_back();
    --total;
  }
  if (total % 2 != 0) {
    // One rank is left over: the last one of the last group that is as large as the largest.
    const auto smaller = std::find_if(groups.begin(), groups.end(),
                                      [&](const Ranks& group) { return group.size() < largest.size(); });
    (smaller - 1)->pop_back();
    --total;
  }
  Ranks row;
  for (const Ranks& group : groups) row.insert(row.end(), group.begin(), group.end());
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < total / 2; ++i) {
    const auto ends = std::minmax(row[i], row[i + total / 2]);
    pairs.emplace_back(ends.first, ends.second);
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

// Pairs that meet at `level`, that of rank 0 first; as many as are wanted, or all. Those on rank 0's node
// come before others; on a node each group of ranks that meet at this level gives one pair in turn.
std::vector<Placement::Pair> Placement::scattered_pairs(Level level, std::size_t wanted, long index) const {
  Draw draw(index);
  std::vector<Ranks> nodes =
      level == Level::network ? std::vector<Ranks>{all()} : divided(all(), below(Level::network));
  if (nodes.size() > 2) {
    const auto turn = static_cast<std::ptrdiff_t>(draw.below(nodes.size() - 1));
    std::rotate(nodes.begin() + 1, nodes.begin() + 1 + turn, nodes.end());
  }
  std::vector<Pair> found;
  for (const Ranks& node : nodes) {
    std::vector<std::vector<Pair>> sources;
    std::size_t most = 0;
    for (const Ranks& group : divided(node, below(level) + 1)) {
      sources.push_back(pairs_in(group, below(level)));
      most = std::max(most, sources.back().size());
    }
    for (std::size_t round = 0; round < most; ++round)
      for (const std::vector<Pair>& source : sources) {
        if (round < source.size()) found.push_back(source[round]);
        if (found.size() == wanted) return found;
      }
  }
  return found;
}

std::vector<int> Placement::pairs(Level level, int ranks, long index) const {
  HOCKNEY_EXPECT(ranks >= 2 && ranks % 2 == 0);
  const auto half = static_cast<std::size_t>(ranks / 2);
  const std::size_t depth = below(level);
  Ranks around;
  for (const int rank : all())
    if (group(rank, depth + 1) == group(0, depth + 1)) around.push_back(rank);
  std::vector<Ranks> groups = divided(around, depth);
  if (groups.size() < 2)
    throw InvalidCase(std::string("place=") + name_of(level) + ": no rank meets rank 0 there; " +
                      where_rank_0_meets());
  Draw draw(index);
  const bool enough = groups.front().size() >= half;
  const Ranks home = enough ? window_with_first(groups.front(), half, draw) : Ranks{};
  groups.erase(groups.begin());
  std::erase_if(groups, [half](const Ranks& group) { return group.size() < half; });
  if (enough && !groups.empty()) {
    const Ranks opposite = window(groups[draw.below(groups.size())], half, draw);
    Ranks members = home;
    members.insert(members.end(), opposite.begin(), opposite.end());
    return members;
  }
  const std::vector<Pair> found = scattered_pairs(level, half, index);
  if (found.size() < half)
    throw InvalidCase(std::string("place=") + name_of(level) + " ranks=" + std::to_string(ranks) + " needs " +
                      counted(half, "pair") + " of ranks, but the launch has " +
                      std::to_string(found.size()) + "; " + where_rank_0_meets());
  Ranks members;
  for (const Pair& pair : found) members.push_back(pair.first);
  for (const Pair& pair : found) members.push_back(pair.second);
  return members;
}

std::vector<int> Placement::spread(int nodes, int ranks, long index) const {
  HOCKNEY_EXPECT(nodes >= 1 && ranks >= nodes && ranks % nodes == 0);
  const auto wanted = static_cast<std::size_t>(nodes);
  const auto each = static_cast<std::size_t>(ranks / nodes);
  std::vector<Ranks> found = divided(all(), below(Level::network));
  const std::size_t there = found.size();
  const auto [least, most] =
      std::minmax_element(found.begin(), found.end(),
                          [](const Ranks& one, const Ranks& other) { return one.size() < other.size(); });
  const std::string sizes = least->size() == most->size()
                                ? counted(least->size(), "rank") + (there == 1 ? "" : " on each")
                                : std::to_string(least->size()) + " to " + counted(most->size(), "rank");
  const bool home_fits = found.front().size() >= each;
  std::erase_if(found, [each](const Ranks& node) { return node.size() < each; });
  if (!home_fits || found.size() < wanted)
    throw InvalidCase("nodes=" + std::to_string(nodes) + " ranks=" + std::to_string(ranks) + " needs " +
                      counted(each, "rank") + " on " +
                      (wanted == 1 ? "the node of rank 0"
                                   : "each of " + counted(wanted, "node") + ", one of them that of rank 0") +
                      ", but the launch has " + counted(there, "node") + " with " + sizes);
  Draw draw(index);
  // The nodes that take part, by their numbers in `found`.
  Ranks numbers(found.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  Ranks members;
  for (const int number : window_with_first(numbers, wanted, draw)) {
    const Ranks chosen = nearest(found[static_cast<std::size_t>(number)], each);
    members.insert(members.end(), chosen.begin(), chosen.end());
  }
  return members;
}

// For refusals: "of the launch's 7 other ranks, 1 meets rank 0 at core and 6 at network".
std::string Placement::where_rank_0_meets() const {
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
