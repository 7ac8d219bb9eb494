// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Every barrier of engine/sync, under mpiexec at 1 to 9 ranks: whether it is correct, alone and together with
// others, and whether it sends the messages it declares. Every rank runs the same tests in the same order.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "barrier_checks.hpp"
#include "base/clock.hpp"
#include "sync/hierarchical.hpp"
#include "traffic_seen.hpp"

namespace {

using namespace checks;

constexpr int chunk = 50;
constexpr int most_episodes = 5000;
constexpr int fewest_chunks = 4;
constexpr double enough_s = 0.1;

const BarrierAlgorithm& named(const std::string& name) {
  for (const BarrierAlgorithm* each : all_barriers())
    if (name == each->name) return *each;
  throw InvalidCase("no barrier " + name);
}

// The number of episodes that ranks left too early, of thousands back to back.
long left_early(Barrier& barrier, MPI_Comm comm) {
  Entries entries(comm);
  const int rank = rank_of(comm);
  const double started = now();
  std::uint64_t episode = 0;
  for (std::uint32_t turn = 1;; ++turn) {
    for (int k = 0; k < chunk; ++k) {
      be_late(++episode, rank);
      entries.episode(barrier);
    }
    const bool more = turn < fewest_chunks || (turn < most_episodes / chunk && now() - started < enough_s);
    if (!entries.told(more, turn)) break;
  }
  return entries.missing();
}

class EveryBarrier : public testing::TestWithParam<const BarrierAlgorithm*> {};

TEST_P(EveryBarrier, HoldsAllUntilTheLastHasCome) {
  const auto barrier = GetParam()->make(MPI_COMM_WORLD);
  EXPECT_EQ(left_early(*barrier, MPI_COMM_WORLD), 0);
}

TEST_P(EveryBarrier, HoldsInACommunicatorOfSomeRanksInAnotherOrder) {
  const int rank = rank_of(MPI_COMM_WORLD);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  {
    const auto barrier = GetParam()->make(half);
    Entries entries(half);
    for (int episode = 0; episode < 2 * chunk; ++episode) {
      be_late(static_cast<std::uint64_t>(episode), rank);
      entries.episode(*barrier);
    }
    EXPECT_EQ(entries.missing(), 0);
  }
  MPI_Comm_free(&half);
}

TEST_P(EveryBarrier, SendsNothingWhereItsUserReceives) {
  MPI_Comm mine;
  MPI_Comm_dup(MPI_COMM_WORLD, &mine);
  char any = 0;
  MPI_Request request;
  MPI_Irecv(&any, 1, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, mine, &request);
  {
    const auto barrier = GetParam()->make(mine);
    for (int episode = 0; episode < 20; ++episode) barrier->wait();
    // The user's own message arrives in between.
    const int rank = rank_of(mine), size = size_of(mine);
    const char word = static_cast<char>(rank);
    MPI_Request sent;
    MPI_Isend(&word, 1, MPI_BYTE, (rank + 1) % size, 12345, mine, &sent);
    barrier->wait();
    MPI_Status status;
    MPI_Wait(&request, &status);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    EXPECT_EQ(status.MPI_TAG, 12345);
    EXPECT_EQ(any, static_cast<char>((rank + size - 1) % size));
    barrier->wait();
  }
  int there = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, mine, &there, MPI_STATUS_IGNORE);
  EXPECT_EQ(there, 0);
  MPI_Comm_free(&mine);
}

TEST_P(EveryBarrier, SendsAsManyMessagesAsItSays) {
  const BarrierAlgorithm& algorithm = *GetParam();
  const int size = size_of(MPI_COMM_WORLD);
  const auto barrier = algorithm.make(MPI_COMM_WORLD);
  const Traffic said = algorithm.traffic(size);
  for (int episode = 0; episode < 3; ++episode) {
    seen::start();
    barrier->wait();
    const seen::Counted found = seen::counted(seen::stop(), MPI_COMM_WORLD);
    EXPECT_EQ(found.messages, said.messages);
    // MPI decides how a broadcast is sent, and a rank that polls memory receives no messages.
    const bool broadcasts = std::string(algorithm.name).ends_with("bcast") ||
                            algorithm.name == std::string("tournament") ||
                            algorithm.name == std::string("tournament_parity");
    if (algorithm.signalling == Signalling::one_sided || broadcasts) continue;
    // A rank that receives from any source may obtain information earlier than needed.
    if (std::string(algorithm.name).ends_with("_mcs"))
      EXPECT_GE(found.depth, said.depth);
    else
      EXPECT_EQ(found.depth, said.depth);
    EXPECT_EQ(found.busiest, said.max_per_rank);
  }
}

INSTANTIATE_TEST_SUITE_P(Sync, EveryBarrier, testing::ValuesIn(all_barriers().begin(), all_barriers().end()),
                         [](const auto& tested) { return std::string(tested.param->name); });

TEST(Barriers, AliveAtOnceDoNotMeet) {
  const int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2 ? 0 : 1, rank, &half);
  struct One {
    std::unique_ptr<Barrier> barrier;
    std::unique_ptr<Entries> entries;
  };
  std::vector<One> all;
  const auto make = [&all](const BarrierAlgorithm& algorithm, MPI_Comm comm) {
    all.push_back({algorithm.make(comm), std::make_unique<Entries>(comm)});
  };
  // Two that are most alike, and one on half of the ranks.
  for (const char* name :
       {"dissemination", "dissemination_mcs", "tournament_mcs", "shm_dissemination", "central"}) {
    make(named(name), MPI_COMM_WORLD);
    make(named(name), MPI_COMM_WORLD);
    make(named(name), half);
  }
  for (std::uint64_t round = 0; round < 200; ++round) {
    One& one = all[mix(round) % all.size()];
    be_late(round, rank);
    one.entries->episode(*one.barrier);
    // The first one is destroyed, the later ones remain.
    if (round == 100) all.erase(all.begin());
  }
  for (const One& one : all) EXPECT_EQ(one.entries->missing(), 0);
  all.clear();
  MPI_Comm_free(&half);
}

TEST(Hierarchical, HoldsBetweenNodes) {
  const int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  for (const int nodes : {1, 2, 3, size}) {
    if (nodes > size) continue;
    const auto barrier = sync::make_hierarchical(MPI_COMM_WORLD, rank % nodes);
    EXPECT_EQ(left_early(*barrier, MPI_COMM_WORLD), 0) << nodes << " nodes";
    seen::start();
    barrier->wait();
    const seen::Counted found = seen::counted(seen::stop(), MPI_COMM_WORLD);
    // One rank per node takes part in a dissemination.
    EXPECT_EQ(found.messages, static_cast<long>(nodes) * doubling_rounds(nodes));
  }
}

// Incorrect barriers. The check must detect each of them, or it would detect nothing.

class Absent final : public Barrier {
 public:
  explicit Absent(MPI_Comm) {}
  void wait() override {}
};

// One round of dissemination, where more ranks need more.
class Short final : public Barrier {
 public:
  explicit Short(MPI_Comm comm) : signals_(comm) {}
  void wait() override {
    const int rank = signals_.rank(), size = signals_.size();
    signals_.exchange((rank + 1) % size, (rank + size - 1) % size);
  }

 private:
  const Signals signals_;
};

// Dissemination on flags whose meaning never changes: correct once.
class Once final : public Barrier {
 public:
  explicit Once(MPI_Comm comm) : flags_(comm, 32) {}
  void wait() override {
    const int rank = flags_.rank(), size = flags_.size();
    for (int step = 1, round = 0; step < size; step <<= 1, ++round) {
      flags_.set(flags_.of((rank + step) % size, round), 1);
      flags_.wait_until_equal(flags_.of(rank, round), 1);
    }
  }

 private:
  const SharedFlags flags_;
};

// The designated rank answers without waiting for the last one.
class Hasty final : public Barrier {
 public:
  explicit Hasty(MPI_Comm comm) : signals_(comm) {}
  void wait() override {
    const int size = signals_.size();
    if (signals_.rank() != 0) {
      MPI_Request sent = signals_.start(0);
      signals_.receive(0, 1);
      signals_.finish(sent);
      return;
    }
    for (int other = 1; other < size - 1; ++other) signals_.receive(other);
    for (int other = 1; other < size; ++other) signals_.send(other, 1);
    late_.push_back(signals_.expect(size - 1));
  }
  ~Hasty() override { signals_.finish_all(late_); }

 private:
  const Signals signals_;
  std::vector<MPI_Request> late_;
};

// Delays and scheduling are random, so an incorrect barrier may pass for a while.
template <class Wrong>
long found_early(int episodes) {
  constexpr int attempts = 50;
  Wrong wrong(MPI_COMM_WORLD);
  Entries entries(MPI_COMM_WORLD);
  long all = 0;
  for (int attempt = 0; attempt < attempts && all == 0; ++attempt) {
    for (int k = 1; k <= episodes; ++k) {
      be_late(static_cast<std::uint64_t>(attempt * episodes + k), rank_of(MPI_COMM_WORLD));
      entries.episode(wrong);
    }
    all = entries.missing();
    PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  }
  return all;
}

TEST(Checks, FindBarriersThatAreNone) {
  const int size = size_of(MPI_COMM_WORLD);
  if (size == 1) GTEST_SKIP() << "one rank always holds";
  EXPECT_GT(found_early<Absent>(1000), 0);
  EXPECT_GT(found_early<Once>(1000), 0);
  EXPECT_GT(found_early<Hasty>(1000), 0);
  EXPECT_TRUE(size == 2 || found_early<Short>(1000) > 0);
}

// Learns of the last rank's arrival without a message: the count must not equal the declared one.
TEST(Checks, CountMessagesThatAreSent) {
  const int size = size_of(MPI_COMM_WORLD);
  if (size == 1) GTEST_SKIP() << "one rank sends nothing";
  Short wrong(MPI_COMM_WORLD);
  seen::start();
  wrong.wait();
  wrong.wait();
  const seen::Counted found = seen::counted(seen::stop(), MPI_COMM_WORLD);
  EXPECT_EQ(found.messages, 2L * size);
  EXPECT_EQ(found.depth, 2);
  EXPECT_EQ(found.busiest, 4);
}

// One message more than declared, where a user would notice it.
TEST(Checks, ALeakIsSeen) {
  if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "nobody to send to";
  MPI_Comm mine;
  MPI_Comm_dup(MPI_COMM_WORLD, &mine);
  const int rank = rank_of(mine), size = size_of(mine);
  MPI_Request sent;
  MPI_Isend(nullptr, 0, MPI_BYTE, (rank + 1) % size, 0, mine, &sent);
  const auto barrier = named("dissemination").make(mine);
  barrier->wait();
  int there = 0;
  for (const double started = now(); !there && now() - started < 5;)
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, mine, &there, MPI_STATUS_IGNORE);
  EXPECT_EQ(there, 1);
  MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, mine, MPI_STATUS_IGNORE);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  MPI_Comm_free(&mine);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  const int mine = RUN_ALL_TESTS();
  int worst = 0;
  MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return worst;
}
