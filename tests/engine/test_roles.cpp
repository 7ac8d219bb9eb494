// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Which ranks are victims, and which are congestors.
#include <gtest/gtest.h>

#include <set>

#include "congestion/roles.hpp"

namespace {

using namespace hockney;
using congestion::Allocation;
using congestion::Roles;

using Ranks = std::vector<int>;

std::vector<std::string> nodes(int count, int ranks_each) {
  std::vector<std::string> names;
  for (int rank = 0; rank < count * ranks_each; ++rank)
    names.push_back("n" + std::to_string(rank / ranks_each));
  return names;
}

TEST(Roles, AreThoseOfWholeNodes) {
  const Roles blocked(nodes(10, 2), 0.2, Allocation::blocked, 1);
  EXPECT_EQ(blocked.victims(), (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(blocked.congestors().size(), 16);
  const Roles interleaved(nodes(10, 1), 0.2, Allocation::interleaved, 1);
  EXPECT_EQ(interleaved.victims(), (Ranks{4, 9}));
}

TEST(Roles, AreThoseOfRanksOnFewNodes) {
  const Roles roles(nodes(3, 4), 0.5, Allocation::interleaved, 1);
  EXPECT_EQ(roles.victims(), (Ranks{1, 3, 5, 7, 9, 11}));
}

TEST(Roles, HaveTwoNodesEach) {
  for (const double share : {0.001, 0.5, 0.999}) {
    const Roles roles(nodes(1, 4), share, Allocation::random, 5);
    EXPECT_EQ(roles.victims().size(), 2);
    EXPECT_EQ(roles.congestors().size(), 2);
  }
}

TEST(Roles, AreRandomInEachLaunchButTheSameOnEveryRank) {
  std::set<Ranks> seen;
  for (std::uint64_t launch = 0; launch < 20; ++launch) {
    const Roles roles(nodes(16, 4), 0.25, Allocation::random, launch);
    EXPECT_EQ(roles.victims(), Roles(nodes(16, 4), 0.25, Allocation::random, launch).victims());
    std::set<int> all(roles.victims().begin(), roles.victims().end()), victim_nodes;
    for (const int rank : roles.victims()) victim_nodes.insert(rank / 4);
    EXPECT_EQ(victim_nodes.size(), 4) << "of whole nodes";
    all.insert(roles.congestors().begin(), roles.congestors().end());
    EXPECT_EQ(all.size(), 64);
    seen.insert(roles.victims());
  }
  EXPECT_GT(seen.size(), 18);
}

TEST(Roles, AreEquallyFrequentOnEveryNode) {
  std::vector<int> counts(8);
  for (std::uint64_t launch = 0; launch < 4000; ++launch) {
    const Roles roles(nodes(8, 1), 0.25, Allocation::random, launch);
    for (const int rank : roles.victims()) ++counts[static_cast<std::size_t>(rank)];
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 120);
}

}  // namespace
