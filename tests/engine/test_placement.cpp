// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Which ranks are chosen: on small launches with known answers, and what holds on any launch.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "base/invalid_case.hpp"
#include "comm/placement.hpp"

namespace {

using namespace hockney;

using Ranks = std::vector<int>;

constexpr Level levels[] = {Level::core, Level::cache, Level::socket, Level::node, Level::network};

// `nodes` nodes of two sockets, each with two caches of two cores with two threads, and a rank on every
// thread.
std::vector<RankLocation> full(int nodes) {
  std::vector<RankLocation> spots;
  for (int node = 0; node < nodes; ++node)
    for (int thread = 0; thread < 16; ++thread)
      spots.push_back({"n" + std::to_string(node), {thread / 2, thread / 4, thread / 8}});
  return spots;
}

std::vector<RankLocation> unbound(int nodes, int each) {
  std::vector<RankLocation> spots;
  for (int rank = 0; rank < nodes * each; ++rank) spots.push_back({"n" + std::to_string(rank / each), {}});
  return spots;
}

std::string refusal(const std::vector<RankLocation>& spots, Level level, int ranks) {
  try {
    Placement(spots).pairs(level, ranks, 0);
  } catch (const InvalidCase& refused) {
    return refused.what();
  }
  return "";
}

TEST(Level, HasANameThatIsReadBack) {
  for (const Level level : levels) EXPECT_EQ(level_named(name_of(level)), level);
  for (const char* other : {"", "Core", "numa", "core "}) EXPECT_FALSE(level_named(other)) << other;
}

TEST(Placement, FindsTheNearestLevel) {
  const Placement placement(full(2));
  EXPECT_EQ(placement.level(0, 1), Level::core);
  EXPECT_EQ(placement.level(0, 3), Level::cache);
  EXPECT_EQ(placement.level(0, 4), Level::socket);
  EXPECT_EQ(placement.level(9, 2), Level::node);
  EXPECT_EQ(placement.level(16, 0), Level::network);
  EXPECT_EQ(placement.nodes({}), 2);
  EXPECT_EQ(placement.nodes({0, 15}), 1);
  EXPECT_EQ(placement.nodes({0, 17, 16}), 2);
}

TEST(Placement, KnowsOnlyTheNodeOfARankThatIsNotBound) {
  std::vector<RankLocation> spots = full(1);
  spots[1].core = {};
  const Placement placement(spots);
  EXPECT_EQ(placement.level(0, 1), Level::node);
  EXPECT_EQ(placement.level(1, 2), Level::node);
  EXPECT_EQ(placement.level(0, 2), Level::cache);
  EXPECT_EQ(Placement(unbound(2, 3)).level(1, 2), Level::node);
}

TEST(Placement, DoesNotTakeUnknownCachesForOne) {
  const Placement placement({{"a", {0, -1, 0}}, {"a", {0, -1, 0}}, {"a", {1, -1, 0}}, {"a", {2, -1, -1}}});
  EXPECT_EQ(placement.level(0, 1), Level::core);
  EXPECT_EQ(placement.level(0, 2), Level::socket);
  EXPECT_EQ(placement.level(2, 3), Level::node);
  const Placement nothing({{"a", {0, -1, -1}}, {"a", {1, -1, -1}}});
  EXPECT_EQ(nothing.level(0, 1), Level::node);
}

TEST(Placement, PutsTheHalvesOfManyPairsOntoTwoNodesOrSockets) {
  const Placement placement(full(3));
  for (long index = 0; index < 20; ++index) {
    const Ranks network = placement.pairs(Level::network, 32, index);
    EXPECT_EQ(placement.nodes({network.begin(), network.begin() + 16}), 1);
    EXPECT_EQ(placement.nodes({network.begin() + 16, network.end()}), 1);
    const Ranks node = placement.pairs(Level::node, 8, index);
    for (int i = 0; i < 4; ++i) EXPECT_LT(node[static_cast<std::size_t>(i)], 8);
    for (int i = 4; i < 8; ++i) EXPECT_GE(node[static_cast<std::size_t>(i)], 8);
    EXPECT_EQ(placement.nodes(node), 1);
  }
}

TEST(Placement, GivesEachPairACacheOfItsOwnWhileThereAreSuch) {
  const Placement placement(full(1));
  const Ranks found = placement.pairs(Level::cache, 8, 0);
  std::set<int> caches;
  for (std::size_t i = 0; i < 4; ++i) caches.insert(found[i] / 4);
  EXPECT_EQ(caches.size(), 4U);
  EXPECT_EQ(placement.pairs(Level::cache, 16, 0).size(), 16U);
  const Ranks cores = placement.pairs(Level::core, 16, 0);
  EXPECT_EQ(cores.size(), 16U);
}

TEST(Placement, UsesMoreThanTwoNodesIfPairsNeedThem) {
  const Placement placement(unbound(4, 2));
  const Ranks found = placement.pairs(Level::network, 8, 0);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(placement.level(found[i], found[i + 4]), Level::network);
  EXPECT_EQ(std::set<int>(found.begin(), found.end()).size(), 8U);
}

TEST(Placement, KeepsTheOrderOfTheLaunchIfAllTakePart) {
  Ranks all(8);
  for (int rank = 0; rank < 8; ++rank) all[static_cast<std::size_t>(rank)] = rank;
  for (long index = 0; index < 10; ++index) {
    EXPECT_EQ(Placement(unbound(2, 4)).pairs(Level::network, 8, index), all);
    EXPECT_EQ(Placement(unbound(2, 4)).spread(2, 8, index), all);
    EXPECT_EQ(Placement(unbound(4, 2)).spread(4, 8, index), all);
  }
}

TEST(Placement, OrdersConsecutiveRanksByNodeAlsoIfTheLaunchDealsThemOut) {
  std::vector<RankLocation> dealt;
  for (int rank = 0; rank < 8; ++rank) dealt.push_back({rank % 2 ? "b" : "a", {}});
  EXPECT_EQ(Placement(dealt).spread(2, 8, 3), (Ranks{0, 2, 4, 6, 1, 3, 5, 7}));
}

TEST(Placement, FillsCachesAndSocketsOneAfterAnotherInEveryLaunch) {
  // Two sockets of two caches with two cores each. Launchers deal ranks out by core or by socket.
  std::vector<RankLocation> in_order, dealt;
  for (int core = 0; core < 8; ++core) in_order.push_back({"a", {core, core / 2, core / 4}});
  for (int i = 0; i < 8; ++i) dealt.push_back(in_order[static_cast<std::size_t>(i % 2 * 4 + i / 2)]);
  for (long index = 0; index < 20; ++index) {
    EXPECT_EQ(Placement(in_order).spread(1, 4, index), (Ranks{0, 1, 2, 3}));
    EXPECT_EQ(Placement(dealt).spread(1, 2, index), (Ranks{0, 2}));
    EXPECT_EQ(Placement(dealt).spread(1, 4, index), (Ranks{0, 2, 4, 6}));
    EXPECT_EQ(Placement(dealt).spread(1, 5, index), (Ranks{0, 1, 2, 4, 6}));
  }
  const Placement several(full(3));
  for (long index = 0; index < 20; ++index) {
    const Ranks found = several.spread(2, 8, index);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(found[i], static_cast<int>(i));
      EXPECT_EQ(found[4 + i] % 16, static_cast<int>(i)) << "those in the cache of the node's first rank";
    }
  }
}

TEST(Placement, ReachesEveryPartnerInSomeLaunch) {
  const Placement placement(full(3));
  std::map<Level, std::set<int>> partners;
  std::set<Ranks> spread;
  for (long index = 0; index < 400; index += 2)  // a kind of launches may have even indices only
    for (const Level level : levels) {
      partners[level].insert(placement.pairs(level, 2, index).back());
      spread.insert(placement.spread(2, 2, index));
      EXPECT_EQ(placement.pairs(level, 2, index), placement.pairs(level, 2, index));
    }
  EXPECT_EQ(partners[Level::core].size(), 1U);
  EXPECT_EQ(partners[Level::cache].size(), 2U);
  EXPECT_EQ(partners[Level::socket].size(), 4U);
  EXPECT_EQ(partners[Level::node].size(), 8U);
  EXPECT_EQ(partners[Level::network].size(), 32U);
  EXPECT_EQ(spread, (std::set<Ranks>{{0, 16}, {0, 32}})) << "the first rank of each other node";
}

TEST(Placement, StatesWhatTheLaunchHas) {
  EXPECT_EQ(
      refusal(full(1), Level::network, 2),
      "place=network: no rank meets rank 0 there; its other ranks meet rank 0 as follows: 1 at core, 2 at "
      "cache, 4 at socket, 8 at node");
  EXPECT_EQ(
      refusal(full(1), Level::core, 18),
      "place=core ranks=18 needs 9 pairs of ranks, but the launch has 8; its other ranks meet rank 0 as "
      "follows: 1 at core, 2 at cache, 4 at socket, 8 at node");
  EXPECT_NE(refusal(unbound(2, 2), Level::cache, 2).find("bound"), std::string::npos);
  EXPECT_THROW(Placement(unbound(2, 2)).spread(4, 4, 0), InvalidCase);
  EXPECT_THROW(Placement(unbound(2, 2)).spread(2, 6, 0), InvalidCase);
  EXPECT_THROW(Placement({{"a", {}}, {"b", {}}, {"b", {}}, {"c", {}}, {"c", {}}}).spread(2, 4, 0),
               InvalidCase);
  EXPECT_THROW(Placement(unbound(1, 1)).pairs(Level::node, 2, 0), InvalidCase);
}

// Nodes of different sizes with nested sockets, caches and cores, of which some are unknown; ranks in any
// order.
std::vector<RankLocation> any(std::mt19937& random) {
  const auto below = [&](int end) { return std::uniform_int_distribution<int>(0, end - 1)(random); };
  std::vector<RankLocation> spots;
  const int nodes = 1 + below(4);
  const bool caches = below(4) != 0;
  const bool sockets = below(4) != 0;
  for (int node = 0; node < nodes; ++node) {
    const int ranks = 1 + below(9);
    for (int rank = 0; rank < ranks; ++rank) {
      const int core = below(12);
      Core found{core, caches ? core / 2 : -1, sockets ? core / 6 : -1};
      if (below(8) == 0) found = {};
      spots.push_back({"n" + std::to_string(node), found});
    }
  }
  std::shuffle(spots.begin(), spots.end(), random);
  return spots;
}

// The definition, from two ranks' own places.
Level defined(const RankLocation& one, const RankLocation& other) {
  if (one.node != other.node) return Level::network;
  if (one.core.core < 0 || other.core.core < 0) return Level::node;
  if (one.core.core == other.core.core) return Level::core;
  if (one.core.cache >= 0 && one.core.cache == other.core.cache) return Level::cache;
  if (one.core.socket >= 0 && one.core.socket == other.core.socket) return Level::socket;
  return Level::node;
}

// The most pairs at a level, by trying all: pairs are rare in small launches.
std::size_t most_pairs(const std::vector<RankLocation>& spots, Level level, std::vector<bool> used,
                       std::size_t from) {
  while (from < spots.size() && used[from]) ++from;
  if (from >= spots.size()) return 0;
  used[from] = true;
  std::size_t most = most_pairs(spots, level, used, from + 1);
  for (std::size_t other = from + 1; other < spots.size(); ++other) {
    if (used[other] || defined(spots[from], spots[other]) != level) continue;
    used[other] = true;
    most = std::max(most, 1 + most_pairs(spots, level, used, from + 1));
    used[other] = false;
  }
  return most;
}

TEST(Placement, HoldsOnAnyLaunch) {
  std::mt19937 random(20261123);
  for (int round = 0; round < 1500; ++round) {
    std::vector<RankLocation> spots = any(random);
    const Placement placement(spots);
    const int size = static_cast<int>(spots.size());
    std::set<Level> with_rank_0;
    for (int rank = 1; rank < size; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      EXPECT_EQ(placement.level(0, rank), defined(spots[0], spots[at]));
      EXPECT_EQ(placement.level(rank, 0), defined(spots[0], spots[at]));
      with_rank_0.insert(placement.level(0, rank));
    }
    for (const Level level : levels)
      for (int ranks = 2; ranks <= size + 1; ranks += 2) {
        Ranks found;
        try {
          found = placement.pairs(level, ranks, round);
        } catch (const InvalidCase&) {
          EXPECT_FALSE(ranks == 2 && with_rank_0.contains(level));
          if (size <= 8 && with_rank_0.contains(level)) {
            // Rank 0 is in one pair; the others must not suffice.
            std::size_t most = 0;
            for (std::size_t partner = 1; partner < spots.size(); ++partner) {
              if (defined(spots[0], spots[partner]) != level) continue;
              std::vector<bool> used(spots.size());
              used[0] = used[partner] = true;
              most = std::max(most, 1 + most_pairs(spots, level, used, 0));
            }
            EXPECT_LT(2 * most, static_cast<std::size_t>(ranks));
          }
          continue;
        }
        ASSERT_EQ(found.size(), static_cast<std::size_t>(ranks));
        EXPECT_EQ(found.front(), 0);
        EXPECT_EQ(std::set<int>(found.begin(), found.end()).size(), found.size());
        for (std::size_t i = 0; i < found.size() / 2; ++i)
          EXPECT_EQ(placement.level(found[i], found[i + found.size() / 2]), level);
      }
    for (int nodes = 1; nodes <= 4; ++nodes)
      for (int each = 1; each <= 9; ++each) {
        std::map<std::string, int> sizes;
        for (const RankLocation& spot : spots) ++sizes[spot.node];
        const auto large =
            std::count_if(sizes.begin(), sizes.end(), [&](const auto& node) { return node.second >= each; });
        const bool possible = large >= nodes && sizes[spots[0].node] >= each;
        try {
          const Ranks found = placement.spread(nodes, nodes * each, round);
          EXPECT_TRUE(possible);
          ASSERT_EQ(found.size(), static_cast<std::size_t>(nodes * each));
          EXPECT_EQ(found.front(), 0);
          EXPECT_EQ(placement.nodes(found), nodes);
          for (std::size_t i = 0; i < found.size(); ++i) {
            const std::size_t first = i / static_cast<std::size_t>(each) * static_cast<std::size_t>(each);
            EXPECT_EQ(spots[static_cast<std::size_t>(found[i])].node,
                      spots[static_cast<std::size_t>(found[first])].node);
          }
          EXPECT_EQ(std::set<int>(found.begin(), found.end()).size(), found.size());
        } catch (const InvalidCase&) {
          EXPECT_FALSE(possible);
        }
      }
  }
}

TEST(Placement, TakesTensOfThousandsOfRanks) {
  std::vector<RankLocation> spots = full(1024);
  const Placement placement(spots);
  const Ranks found = placement.pairs(Level::cache, 8192, 1);
  EXPECT_EQ(found.size(), 8192U);
  EXPECT_EQ(placement.spread(1024, 8192, 1).size(), 8192U);
  EXPECT_EQ(placement.pairs(Level::network, 16384, 1).size(), 16384U);
}

}  // namespace
