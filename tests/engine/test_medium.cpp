// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "emulated/medium.hpp"

namespace {

using namespace hockney::emulated;

// At 10 Mbit/s an octet takes 800 ns.
constexpr Nanoseconds octet = 800;
constexpr Wire wire{10e6, 0};
// A full frame of 1514 bytes: preamble 8, check sequence 4; and the gap of 12.
constexpr Nanoseconds full = (8 + 1514 + 4) * octet;
constexpr Nanoseconds gap = 12 * octet;

Frame frame(int from, int to, Nanoseconds arrived, std::size_t bytes = 1514) {
  return {from, to, arrived, std::vector<std::byte>(bytes)};
}

std::vector<Nanoseconds> times(Medium& medium, Nanoseconds until) {
  std::vector<Nanoseconds> found;
  for (const Delivery& each : medium.advance_to(until)) found.push_back(each.when);
  return found;
}

constexpr Nanoseconds late = 1'000'000'000;
using Times = std::vector<Nanoseconds>;

TEST(Wire, CountsWhatAFrameOccupies) {
  EXPECT_EQ(wire.sending(1514), full);
  EXPECT_EQ(wire.sending(42), (8 + 64) * octet) << "shorter frames are padded";
  EXPECT_EQ(wire.sending(60), (8 + 64) * octet);
  EXPECT_EQ(wire.sending(61), (8 + 65) * octet);
  EXPECT_EQ(wire.gap(), gap);
}

TEST(Bus, DeliversAFrameWhenItsLastBitArrives) {
  Bus bus(wire, 2);
  bus.offer(frame(0, 1, 1000));
  EXPECT_EQ(bus.next(), 1000);
  EXPECT_TRUE(bus.advance_to(1000).empty());
  EXPECT_EQ(bus.next(), 1000 + full);
  EXPECT_TRUE(bus.advance_to(1000 + full - 1).empty());
  EXPECT_EQ(times(bus, 1000 + full), (Times{1000 + full}));
  EXPECT_EQ(bus.next(), std::nullopt);
}

TEST(Bus, CarriesOneFrameAtATime) {
  Bus bus(wire, 4);
  bus.offer(frame(0, 1, 0));
  bus.offer(frame(2, 3, 0));
  bus.offer(frame(1, 0, 0));
  EXPECT_EQ(times(bus, late), (Times{full, 2 * full + gap, 3 * full + 2 * gap}));
}

TEST(Bus, HostsTakeTurns) {
  Bus bus(wire, 3);
  for (int k = 0; k < 3; ++k) bus.offer(frame(0, 2, 0));
  bus.offer(frame(1, 2, 1));
  std::vector<int> senders;
  for (const Delivery& each : bus.advance_to(late)) senders.push_back(each.frame.from);
  // the first frame is on the wire before host 1 has one
  EXPECT_EQ(senders, (std::vector<int>{0, 1, 0, 0}));
}

TEST(Bus, IsExactHoweverLateItIsAsked) {
  Bus asked_often(wire, 2);
  Bus asked_once(wire, 2);
  Times often;
  for (int k = 0; k < 20; ++k) {
    asked_often.offer(frame(k % 2, 1 - k % 2, k * 100));
    asked_once.offer(frame(k % 2, 1 - k % 2, k * 100));
  }
  for (Nanoseconds now = 0; now < 30 * full; now += full / 7)
    for (const Nanoseconds when : times(asked_often, now)) often.push_back(when);
  EXPECT_EQ(often, times(asked_once, late));
  EXPECT_EQ(often.back(), 20 * full + 19 * gap);
}

TEST(Bus, IsIdleBetweenFramesThatComeLater) {
  Bus bus(wire, 2);
  bus.offer(frame(0, 1, 0));
  bus.offer(frame(0, 1, 10 * full));
  EXPECT_EQ(times(bus, late), (Times{full, 11 * full}));
}

TEST(Bus, ADelayDoesNotTakeTheWire) {
  Bus bus({10e6, 5000}, 2);
  bus.offer(frame(0, 1, 0));
  bus.offer(frame(0, 1, 0));
  EXPECT_EQ(times(bus, late), (Times{full + 5000, 2 * full + gap + 5000}));
}

TEST(Switch, ReceivesAFrameBeforeItSendsIt) {
  Switch one(wire, 2);
  one.offer(frame(0, 1, 0));
  one.offer(frame(0, 1, 0));
  EXPECT_EQ(times(one, late), (Times{2 * full, 3 * full + gap}));
}

TEST(Switch, PairsDoNotDisturbEachOther) {
  Switch one(wire, 4);
  one.offer(frame(0, 1, 0));
  one.offer(frame(2, 3, 0));
  one.offer(frame(1, 0, 0));
  EXPECT_EQ(times(one, late), (Times{2 * full, 2 * full, 2 * full}));
}

TEST(Switch, OneReceiverIsSharedInTheOrderOfArrival) {
  Switch one(wire, 3);
  one.offer(frame(0, 2, 10));
  one.offer(frame(1, 2, 0));
  const auto found = one.advance_to(late);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].frame.from, 1);
  EXPECT_EQ(found[0].when, 2 * full);
  EXPECT_EQ(found[1].when, 3 * full + gap);
}

TEST(Switch, SendsABroadcastToAllOthers) {
  Switch one(wire, 4);
  one.offer(frame(1, broadcast_host, 0, 42));
  std::vector<int> receivers;
  for (const Delivery& each : one.advance_to(late)) {
    EXPECT_EQ(each.when, 2 * (8 + 64) * octet);
    receivers.push_back(each.frame.to);
  }
  std::ranges::sort(receivers);
  EXPECT_EQ(receivers, (std::vector<int>{0, 2, 3}));
}

TEST(Switch, ATrunkIsSharedInEachDirection) {
  const Nanoseconds slow = 10 * full, slow_gap = 10 * gap;
  Switch two(wire, 4, {}, {2, 1e6});
  two.offer(frame(0, 2, 0));
  two.offer(frame(1, 3, 0));
  two.offer(frame(2, 1, 0));
  EXPECT_EQ(times(two, late),
            (Times{full + slow + full, full + slow + full, full + 2 * slow + slow_gap + full}));
}

TEST(Switch, FramesWithinAHalfDoNotUseTheTrunk) {
  Switch two(wire, 4, {}, {2, 1e6});
  two.offer(frame(0, 1, 0));
  two.offer(frame(3, 2, 0));
  EXPECT_EQ(times(two, late), (Times{2 * full, 2 * full}));
}

TEST(Medium, HasTwoKinds) {
  EXPECT_NE(medium("bus", wire, 2), nullptr);
  EXPECT_NE(medium("switch", wire, 2), nullptr);
  EXPECT_EQ(medium("ring", wire, 2), nullptr);
}

TEST(Faults, SlowAHostOnASwitch) {
  Switch network(wire, 3, {{{{2}, 2.0, 0.0}}});
  network.offer(frame(0, 1, 0));
  EXPECT_EQ(times(network, late), (Times{2 * full})) << "other hosts are not affected";
  network.offer(frame(0, 2, late));
  EXPECT_EQ(times(network, 2 * late), (Times{late + 3 * full})) << "its cable is slow";
  network.offer(frame(2, 0, 2 * late));
  EXPECT_EQ(times(network, 3 * late), (Times{2 * late + 3 * full})) << "in both directions";
}

TEST(Faults, SlowAPathOnASwitch) {
  Switch network(wire, 3, {{{{1, 0}, 3.0, 0.0}}});
  network.offer(frame(0, 1, 0));
  network.offer(frame(0, 1, 0));
  network.offer(frame(0, 2, 0));
  const Times found = times(network, late);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], 4 * full) << "the path takes three times as long as a cable";
  EXPECT_EQ(found[1], 4 * full + 2 * gap) << "to the other host: behind both frames on the sender's cable";
  EXPECT_EQ(found[2], 7 * full) << "the path carries one frame at a time";
}

TEST(Faults, SlowAHostOnABus) {
  Bus bus(wire, 3, {{{{2}, 2.0, 0.0}}});
  bus.offer(frame(0, 1, 0));
  EXPECT_EQ(times(bus, late), (Times{full}));
  bus.offer(frame(2, 1, late));
  EXPECT_EQ(times(bus, 2 * late), (Times{late + 2 * full}));
}

TEST(Faults, LoseAShareOfTheFrames) {
  Switch network(wire, 3, {{{{0, 1}, 1.0, 0.25}}});
  constexpr int count = 2000;
  for (int k = 0; k < count; ++k) network.offer(frame(0, 1, 0));
  const auto arrived = static_cast<double>(times(network, count * 10 * full).size());
  EXPECT_NEAR(arrived / count, 0.75, 0.04);
  for (int k = 0; k < count; ++k) network.offer(frame(0, 2, count * 10 * full));
  EXPECT_EQ(times(network, 2 * count * 10 * full).size(), static_cast<std::size_t>(count));
}

}  // namespace
